interface Entry<Transaction> {
  /** Runs the operation; what it returns tells the caller, after the commit. */
  execute(transaction: Transaction): Promise<() => void>;
  reject(error: unknown): void;
}

export interface GroupCommitOptions<Transaction> {
  /**
   * Runs `work` in one transaction: committed when it resolves, undone when it rejects. It may run `work` again after it
   * was undone.
   */
  transact: (work: (transaction: Transaction) => Promise<void>) => Promise<void>;
  /** What was learned within an undone transaction must be forgotten. */
  onRollback: () => void;
}

/** A longer batch would hold the event loop for too long. */
const maxBatchSize = 256;

/**
 * Writes that arrive together are committed together, one after the other within the transaction. Each promise settles
 * after the commit that contains it. An operation that fails undoes the batch, and then each runs in a transaction of
 * its own, so that only the bad one fails: operations therefore must not do anything but read and write the database.
 */
export class GroupCommit<Transaction> {
  readonly #options: GroupCommitOptions<Transaction>;
  #queue: Entry<Transaction>[] = [];
  #running: Promise<void> | null = null;

  constructor(options: GroupCommitOptions<Transaction>) {
    this.#options = options;
  }

  write<T>(operation: (transaction: Transaction) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({
        execute: async (transaction) => {
          const value = await operation(transaction);
          return () => resolve(value);
        },
        reject,
      });
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when everything queued so far is settled. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      // One turn of the event loop: lets more writes join, and lets sockets and timers in between two batches.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#queue.slice(0, maxBatchSize);
      this.#queue = this.#queue.slice(maxBatchSize);
      await this.#commit(batch);
    }
    this.#running = null;
  }

  async #commit(batch: Entry<Transaction>[]): Promise<void> {
    let settle: (() => void)[] = [];
    let runs = 0;
    try {
      await this.#options.transact(async (transaction) => {
        runs += 1;
        if (runs > 1) this.#options.onRollback();
        settle = [];
        for (const entry of batch) settle.push(await entry.execute(transaction));
      });
    } catch (error) {
      this.#options.onRollback();
      if (batch.length === 1) batch[0]!.reject(error);
      else for (const entry of batch) await this.#commit([entry]);
      return;
    }
    for (const done of settle) done();
  }
}
