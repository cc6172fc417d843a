import { setTimeout as sleep } from 'node:timers/promises';
import { isCollision, isOutage, translateDriverError } from './driver-errors.ts';

export interface PatienceOptions {
  /** For error messages. */
  name: string;
  /** How long an outage of the server may last until whoever waits gets `store_unavailable`. */
  outageMs: number;
}

const firstPauseMs = 20;
const maxPauseMs = 1000;
/** More collisions in a row than any load of this program makes. */
const maxCollisions = 10;

/** Runs something again that an outage of the server or a collision with another transaction made fail. */
export class Patience {
  readonly #options: PatienceOptions;
  readonly #giveUp = new AbortController();

  constructor(options: PatienceOptions) {
    this.#options = options;
  }

  /** From now on an outage is an error at once: the store is being closed. */
  end(): void {
    this.#giveUp.abort();
  }

  /** @throws errors of the store in place of those of the driver */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const end = performance.now() + this.#options.outageMs;
    for (let failures = 0; ; failures += 1) {
      try {
        return await work();
      } catch (error) {
        const again =
          (isOutage(error) && performance.now() < end && !this.#giveUp.signal.aborted) ||
          (isCollision(error) && failures < maxCollisions);
        if (!again) throw translateDriverError(error, this.#options.name);
        await this.#pause(failures);
      }
    }
  }

  /** Doubles, and differs between servers that failed together. */
  async #pause(failures: number): Promise<void> {
    const ms = Math.min(firstPauseMs * 2 ** failures, maxPauseMs) * (0.5 + Math.random() / 2);
    await sleep(ms, undefined, { signal: this.#giveUp.signal }).catch(() => {}); // given up: the next failure is the last
  }
}
