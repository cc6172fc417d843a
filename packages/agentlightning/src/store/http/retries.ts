import { setTimeout as sleep } from 'node:timers/promises';
import { AgentLightningError } from '../../errors.ts';

export interface RetryOptions {
  /** Before the second try; doubled for each. Default 100 ms. */
  firstMs?: number;
  /** Longest pause. Default 5 s. */
  maxMs?: number;
  /** Without any success for as long, the last error is thrown. Default 60 s: a server may be restarted meanwhile. */
  patienceMs?: number;
}

/** Counts failures in a row, and pauses between them. */
export class Retries {
  readonly #options: Required<RetryOptions>;
  #failures = 0;
  #since = 0;

  constructor({ firstMs = 100, maxMs = 5000, patienceMs = 60_000 }: RetryOptions) {
    this.#options = { firstMs, maxMs, patienceMs };
  }

  /** Something came: the next failure is the first again. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** Pauses before another try; @throws the error itself when it is of no use, or patience is at its end */
  async pause(error: unknown, signal: AbortSignal): Promise<void> {
    const { firstMs, maxMs, patienceMs } = this.#options;
    if (this.#failures === 0) this.#since = performance.now();
    if (!AgentLightningError.isInstance(error) || !error.retryable) throw error;
    if (performance.now() - this.#since >= patienceMs) throw error;
    const longest = Math.min(firstMs * 2 ** this.#failures, maxMs);
    this.#failures += 1;
    // Half of it at random, so that many clients of a restarted server do not come in step.
    await sleep(longest * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}
