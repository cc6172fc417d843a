import type { Kysely, Transaction } from 'kysely';
import { Bell } from '../bell.ts';
import { StoreError } from '../errors.ts';
import { hasEnded, rolloutMachine } from '../transitions.ts';
import type { Rollout } from '../types.ts';
import { RolloutWaiters } from '../waiters.ts';
import type { Access } from './access.ts';
import { GroupCommit } from './group-commit.ts';
import type { StoreSchema } from './schema.ts';

export interface CommitsOptions {
  access: Access;
  /** For error messages. */
  name: string;
  /**
   * Tells of commits of other processes, as a hint: calls back when there may be some, and whether a rollout may be
   * among what they changed. Returns how to end it.
   */
  watch?: (onHint: (rollouts: boolean) => void) => () => void;
  /** Called once, after the last write. */
  close: () => Promise<void>;
}

/** Reads and writes of one store from opening to closing. Whoever waits is told after the commit. */
export class Commits {
  /** For those who wait for rollouts to end. */
  readonly waiters = new RolloutWaiters();
  /** Rings when something was committed. */
  readonly committed = new Bell();
  /** Rings when there may be work to claim. */
  readonly queued = new Bell();
  readonly #options: CommitsOptions;
  readonly #writes: GroupCommit<Transaction<StoreSchema>>;
  /** Under way. */
  readonly #reads = new Set<Promise<void>>();
  readonly #unwatch: () => void;
  #closing: Promise<void> | null = null;

  /** @param onRollback what was learned within an undone transaction must be forgotten */
  constructor(options: CommitsOptions, { onRollback }: { onRollback: () => void }) {
    this.#options = options;
    this.#writes = new GroupCommit({ transact: options.access.write, onRollback });
    this.#unwatch = options.watch?.((rollouts) => this.#hint(rollouts)) ?? (() => {});
  }

  async write<T>(operation: (db: Transaction<StoreSchema>) => Promise<T>): Promise<T> {
    this.assertOpen();
    const value = await this.#writes.write(operation);
    this.committed.ring();
    return value;
  }

  async read<T>(query: (db: Kysely<StoreSchema>) => Promise<T>): Promise<T> {
    this.assertOpen();
    const reading = this.#options.access.read(query);
    const settled = reading.then(
      () => {},
      () => {},
    );
    this.#reads.add(settled);
    try {
      return await reading;
    } finally {
      this.#reads.delete(settled);
    }
  }

  /** Of rollouts as they are after a commit. */
  tell(rollouts: Rollout[]): void {
    this.waiters.notify(rollouts.filter((rollout) => hasEnded(rolloutMachine, rollout.state)));
    if (rollouts.some(({ state }) => state === 'queued')) this.queued.ring();
  }

  /** Reads and writes under way are finished first; whoever waits for rollouts, work or changes gets `store_closed`. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** @throws {StoreError} `store_closed` */
  assertOpen(): void {
    if (this.#closing !== null) throw this.#closedError();
  }

  async #shutDown(): Promise<void> {
    this.#unwatch();
    const error = this.#closedError();
    this.waiters.close(error);
    this.queued.close(error);
    this.committed.close(error);
    await this.#writes.idle();
    await Promise.all(this.#reads);
    await this.#options.close();
  }

  #hint(rollouts: boolean): void {
    this.committed.ring();
    if (!rollouts) return;
    this.waiters.lookAgain();
    this.queued.ring();
  }

  #closedError(): StoreError {
    return new StoreError({ code: 'store_closed', message: `The store ${this.#options.name} has been closed.` });
  }
}
