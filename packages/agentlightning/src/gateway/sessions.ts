import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { AgentLightningError } from '../errors.ts';
import type { RolloutMode } from '../store/types.ts';
import { Session, type SessionOptions } from './session.ts';

/** Of ended attempts as many are remembered, so that a late call is told why it is refused. */
const rememberedEnds = 10_000;
const prefix = 'agl-';

export interface SessionsOptions {
  /** Default: 256 random bits, base64url. */
  newSecret?: () => string;
  /** Default: a random unsigned 32-bit integer. */
  drawSeed?: () => number;
  /** UTC milliseconds. */
  now?: () => number;
}

export type TokenOwner = { state: 'live'; session: Session } | { state: 'ended' } | { state: 'unknown' };

/**
 * The attempts that may call models now. A token is shown once, by `open`, and kept as its SHA-256; it dies with its attempt.
 */
export class Sessions {
  readonly #live = new Map<string, { digest: Buffer; session: Session }>();
  readonly #keys = new Map<string, string>();
  readonly #ended = new Set<string>();
  readonly #listeners: ((attemptId: string) => void)[] = [];
  readonly #newSecret: () => string;
  readonly #sources: { drawSeed: () => number; now: () => number };

  constructor(options: SessionsOptions = {}) {
    this.#newSecret = options.newSecret ?? (() => randomBytes(32).toString('base64url'));
    const { drawSeed = () => randomInt(2 ** 32), now = Date.now } = options;
    this.#sources = { drawSeed, now };
  }

  /** @returns the attempt's token, which is kept nowhere */
  open(options: SessionOptions & { mode: RolloutMode }): string {
    if (this.#keys.has(options.attemptId)) {
      throw new AgentLightningError({
        code: 'session_open',
        message: `The attempt "${options.attemptId}" already has an open session.`,
        hint: 'Close it before opening another.',
      });
    }
    const token = `${prefix}${this.#newSecret()}`;
    const digest = sha256(token);
    const key = digest.toString('base64');
    this.#live.set(key, { digest, session: new Session(options, this.#sources) });
    this.#keys.set(options.attemptId, key);
    return token;
  }

  /** A session without a token of its own, for calls that belong to no rollout. */
  serve(options: Pick<SessionOptions, 'attemptId' | 'rolloutId' | 'recorded'>): Session {
    return new Session({ ...options, seed: null, mode: 'serve' }, this.#sources);
  }

  /** The token dies at once; resolves when the attempt's calls under way have been aborted and recorded. Idempotent. */
  async close(attemptId: string): Promise<void> {
    const key = this.#keys.get(attemptId);
    const entry = key === undefined ? undefined : this.#live.get(key);
    if (key === undefined || entry === undefined) return;
    this.#live.delete(key);
    this.#keys.delete(attemptId);
    this.#ended.add(key);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= rememberedEnds) break;
      this.#ended.delete(oldest);
    }
    await entry.session.close();
    for (const listener of this.#listeners) listener(attemptId);
  }

  /** Of the attempt's calls; null when it has no open session. */
  activity(attemptId: string): ReturnType<Session['activity']> | null {
    const key = this.#keys.get(attemptId);
    return (key === undefined ? undefined : this.#live.get(key))?.session.activity() ?? null;
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#keys.keys()].map((attemptId) => this.close(attemptId)));
  }

  /** Told of each attempt whose session has closed. */
  onClosed(listener: (attemptId: string) => void): void {
    this.#listeners.push(listener);
  }

  ownerOf(token: string): TokenOwner {
    const digest = sha256(token);
    const key = digest.toString('base64');
    const entry = this.#live.get(key);
    if (entry !== undefined && timingSafeEqual(entry.digest, digest)) return { state: 'live', session: entry.session };
    return { state: this.#ended.has(key) ? 'ended' : 'unknown' };
  }
}

export function isAttemptToken(key: string): boolean {
  return key.startsWith(prefix);
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
