import { createHash } from 'node:crypto';

export interface EndpointsOptions {
  /** Base URLs of servers that serve the same weights. */
  urls: readonly string[];
  /** UTC milliseconds. */
  now: () => number;
  /** How long a server that failed is asked last. Default 10 s. */
  restMs?: number;
}

/**
 * Which of several equal servers is asked first. Calls of one attempt go to the same one, for its prefix cache (rendezvous
 * hashing: when a server goes, only its own attempts move); one that has just failed is asked last.
 */
export class Endpoints {
  readonly #options: Required<EndpointsOptions>;
  readonly #restingUntil = new Map<string, number>();

  constructor(options: EndpointsOptions) {
    this.#options = { restMs: 10_000, ...options };
  }

  get urls(): readonly string[] {
    return this.#options.urls;
  }

  /** All of them, the one to ask first in front. */
  order(affinity: string): string[] {
    const now = this.#options.now();
    const resting = (url: string) => ((this.#restingUntil.get(url) ?? 0) > now ? 1 : 0);
    return this.#options.urls
      .map((url) => ({ url, rank: rank(affinity, url), rests: resting(url) }))
      .sort((left, right) => left.rests - right.rests || right.rank - left.rank)
      .map(({ url }) => url);
  }

  failed(url: string): void {
    this.#restingUntil.set(url, this.#options.now() + this.#options.restMs);
  }

  worked(url: string): void {
    this.#restingUntil.delete(url);
  }
}

/** An unsigned 32-bit integer, unlike for every pair. */
function rank(affinity: string, url: string): number {
  return createHash('sha256').update(affinity).update('\0').update(url).digest().readUInt32BE();
}
