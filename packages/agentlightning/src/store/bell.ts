interface Sleeper {
  wake(): void;
  fail(error: unknown): void;
}

/** Wakes those who wait for a commit. It counts, so that a commit between a look and the wait for the next is not missed. */
export class Bell {
  #rung = 0;
  #closed: { error: unknown } | null = null;
  readonly #sleepers = new Set<Sleeper>();

  /** To be read before the look, and given to {@link wait} after it. */
  get rung(): number {
    return this.#rung;
  }

  /** To be called after the commit. */
  ring(): void {
    this.#rung += 1;
    for (const sleeper of [...this.#sleepers]) sleeper.wake();
  }

  /** Ends at the first ring after `since`, at an abort, or after the time. @throws the error given to `close` */
  async wait(
    since: number,
    { signal, timeoutMs }: { signal?: AbortSignal | undefined; timeoutMs?: number },
  ): Promise<void> {
    if (this.#closed) throw this.#closed.error;
    if (this.#rung > since || signal?.aborted) return;
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#sleepers.delete(sleeper);
        clearTimeout(timer);
        signal?.removeEventListener('abort', sleeper.wake);
      };
      const sleeper: Sleeper = {
        wake: () => {
          leave();
          resolve();
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(sleeper.wake, timeoutMs);
      signal?.addEventListener('abort', sleeper.wake, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  close(error: unknown): void {
    this.#closed = { error };
    for (const sleeper of [...this.#sleepers]) sleeper.fail(error);
  }
}
