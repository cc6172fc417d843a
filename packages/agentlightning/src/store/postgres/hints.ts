/** Calls through at once, and after that at most once an interval: a hint says that there is something, not how much. */
export class Hints {
  readonly #deliver: (rollouts: boolean) => void;
  readonly #intervalMs: number;
  #pending: { rollouts: boolean } | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (rollouts: boolean) => void, intervalMs: number) {
    this.#deliver = deliver;
    this.#intervalMs = intervalMs;
  }

  /** @param rollouts whether one may have been queued or ended */
  give(rollouts: boolean): void {
    if (this.#timer !== undefined) {
      this.#pending = { rollouts: rollouts || (this.#pending?.rollouts ?? false) };
      return;
    }
    this.#timer = setTimeout(() => this.#next(), this.#intervalMs);
    this.#deliver(rollouts);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#pending = null;
  }

  #next(): void {
    this.#timer = undefined;
    const pending = this.#pending;
    this.#pending = null;
    if (pending) this.give(pending.rollouts);
  }
}
