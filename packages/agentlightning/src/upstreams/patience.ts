import { silent } from './http-errors.ts';

export interface PatienceOptions {
  /** For messages. */
  name: string;
  firstByteTimeoutMs: number;
  idleTimeoutMs: number;
  /** Aborts too. */
  signal: AbortSignal | undefined;
}

/**
 * Waits for a server's bytes, and not for ever: long for the first, since a long prompt takes its time, and shorter between
 * two of an answer, since a server that has begun to speak goes on.
 */
export class Patience {
  /** Aborts when the server has been silent for too long. */
  readonly signal: AbortSignal;
  readonly #late = new AbortController();
  readonly #options: PatienceOptions;
  #timer: NodeJS.Timeout;
  #heard = false;

  constructor(options: PatienceOptions) {
    this.#options = options;
    const { signal } = options;
    this.signal = signal === undefined ? this.#late.signal : AbortSignal.any([signal, this.#late.signal]);
    this.#timer = this.#wait(options.firstByteTimeoutMs);
  }

  /** A byte of the answer has come. */
  heard(): void {
    if (this.#heard) {
      this.#timer.refresh();
      return;
    }
    this.#heard = true;
    clearTimeout(this.#timer);
    this.#timer = this.#wait(this.#options.idleTimeoutMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** What ended the wait, if it was the wait itself. */
  get failure(): unknown {
    return this.#late.signal.aborted ? this.#late.signal.reason : null;
  }

  #wait(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#late.abort(silent(this.#options.name, ms)), ms);
  }
}
