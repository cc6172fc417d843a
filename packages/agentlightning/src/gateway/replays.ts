import { createHash } from 'node:crypto';
import type { Json } from '../store/types.ts';
import { RequestError } from './request-error.ts';

/** A keyed answer that is under way or has been given. */
interface Entry<Kept> {
  digest: string;
  /** Null when the first request got no answer: the next one is a fresh call. */
  kept: Promise<Kept | null>;
}

/**
 * The answers of one session that came with an `Idempotency-Key`: whoever sends the same request under the same key gets
 * the recorded answer, and no second call is made. Equal text without a key is never taken for a retry (design §5.4).
 */
export class Replays<Kept> {
  readonly #entries = new Map<string, Entry<Kept>>();

  /**
   * @param run makes the call; null when it was not answered
   * @returns the earlier answer, or null after `run` has made the call
   * @throws {RequestError} `idempotency_key_reused` when the key came with another request before
   */
  async once(
    request: { key: string; path: string; body: Json },
    run: () => Promise<Kept | null>,
  ): Promise<Kept | null> {
    const digest = createHash('sha256')
      .update(request.path)
      .update('\0')
      .update(JSON.stringify(request.body))
      .digest('hex');
    for (;;) {
      const entry = this.#entries.get(request.key);
      if (entry === undefined) break;
      if (entry.digest !== digest) throw reused();
      const kept = await entry.kept;
      if (kept !== null) return kept;
      // It failed meanwhile, or another waiter has taken its place.
      if (this.#entries.get(request.key) === entry) this.#entries.delete(request.key);
    }
    const kept = run();
    this.#entries.set(request.key, { digest, kept: kept.catch(() => null) });
    await kept;
    return null;
  }
}

function reused(): RequestError {
  return new RequestError({
    code: 'idempotency_key_reused',
    status: 422,
    field: 'Idempotency-Key',
    message: 'This idempotency key came with another request before.',
    hint: 'Use a new key for each request.',
  });
}
