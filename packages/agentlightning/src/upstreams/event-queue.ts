/** Events pushed by callbacks, read by `for await`. One reader. */
export class EventQueue<T> implements AsyncIterable<T> {
  #events: T[] = [];
  #outcome: { error: unknown } | 'ended' | null = null;
  #wake: (() => void) | null = null;
  readonly #onLeave: (early: boolean) => void;

  /** @param onLeave called once when the reader stops: early, or after the last event */
  constructor(onLeave: (early: boolean) => void) {
    this.#onLeave = onLeave;
  }

  push(event: T): void {
    this.#events.push(event);
    this.#wake?.();
  }

  end(): void {
    this.#outcome ??= 'ended';
    this.#wake?.();
  }

  /** The reader gets what was pushed before, then the error. */
  fail(error: unknown): void {
    this.#outcome ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    let early = true;
    try {
      for (;;) {
        const events = this.#events;
        this.#events = [];
        for (const event of events) yield event;
        if (this.#events.length > 0) continue;
        if (this.#outcome !== null) {
          early = false;
          if (this.#outcome === 'ended') return;
          throw this.#outcome.error;
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = null;
      }
    } finally {
      this.#onLeave(early);
    }
  }
}
