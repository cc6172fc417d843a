import type { Kysely, Transaction } from 'kysely';
import { StoreError } from '../errors.ts';
import type { RolloutQuery, Store } from '../store.ts';
import { hasEnded, rolloutMachine } from '../transitions.ts';
import type {
  Attempt,
  AttemptOutcome,
  Call,
  Checkpoint,
  Claim,
  PolicyVersion,
  ReportedSpan,
  Reward,
  Rollout,
  RolloutRequest,
  Run,
  Span,
  Task,
} from '../types.ts';
import { RolloutWaiters, type WaitOptions } from '../waiters.ts';
import { findAttempt, listAttempts } from './attempts.ts';
import { CallTrees } from './call-trees.ts';
import { listCalls, recordCall } from './calls.ts';
import { cancelRollouts, supersedeAfter } from './cancel.ts';
import { type ClaimRequest, claimRollouts, heartbeat } from './claims.ts';
import { expireLeases, finishAttempt } from './endings.ts';
import { GroupCommit } from './group-commit.ts';
import { addPolicyVersion, latestCheckpoint, latestPolicyVersion, saveCheckpoint } from './policies.ts';
import { addReward, listRewards } from './rewards.ts';
import { enqueueRollouts, findRollout, listRollouts, rolloutRows } from './rollouts.ts';
import { toRollout } from './rows.ts';
import { createRun, findRun, findTasks, finishRun, listRuns, putTasks } from './runs.ts';
import type { StoreSchema } from './schema.ts';
import { addSpans, listSpans } from './spans.ts';

export interface SqlStoreOptions {
  db: Kysely<StoreSchema>;
  /** For error messages. */
  name: string;
  /** UTC, whole milliseconds. */
  clock: () => number;
  /** Time-ordered ids for attempts. */
  ids: () => string;
  /** Called once, after the last write. */
  close: () => Promise<void>;
}

/** The store's verbs, each one call of a function that works in a transaction. Whoever waits is told after the commit. */
export class SqlStore implements Store {
  readonly #options: SqlStoreOptions;
  readonly #writes: GroupCommit<Transaction<StoreSchema>>;
  readonly #trees = new CallTrees();
  readonly #waiters = new RolloutWaiters();
  #closing: Promise<void> | null = null;

  constructor(options: SqlStoreOptions) {
    this.#options = options;
    this.#writes = new GroupCommit({
      transact: (work) => options.db.transaction().execute(work),
      onRollback: () => this.#trees.clear(),
    });
  }

  createRun(run: Pick<Run, 'id' | 'config'>): Promise<Run> {
    return this.#write((db) => createRun(db, run, this.#now()));
  }

  getRun(id: string): Promise<Run | null> {
    return this.#read((db) => findRun(db, id));
  }

  listRuns(): Promise<Run[]> {
    return this.#read(listRuns);
  }

  finishRun(id: string, state: 'finished' | 'failed'): Promise<void> {
    return this.#write((db) => finishRun(db, { id, state, now: this.#now() }));
  }

  putTasks(tasks: Task[]): Promise<void> {
    return this.#write((db) => putTasks(db, tasks));
  }

  async getTask(id: string): Promise<Task | null> {
    const found = await this.#read((db) => findTasks(db, [id]));
    return found.get(id) ?? null;
  }

  enqueueRollouts(requests: RolloutRequest[]): Promise<Rollout[]> {
    return this.#write((db) => enqueueRollouts(db, requests, this.#now()));
  }

  claimRollouts(request: ClaimRequest): Promise<Claim[]> {
    return this.#write((db) => claimRollouts(db, request, { now: this.#now(), ids: this.#options.ids }));
  }

  heartbeat(attemptId: string, leaseMs: number): Promise<boolean> {
    return this.#write((db) => heartbeat(db, { attemptId, leaseMs, now: this.#now() }));
  }

  async finishAttempt(attemptId: string, outcome: AttemptOutcome): Promise<Rollout> {
    const rollout = await this.#write((db) => finishAttempt(db, { attemptId, outcome, now: this.#now() }));
    this.#trees.forget(attemptId);
    this.#tell([rollout]);
    return rollout;
  }

  async expireLeases(): Promise<number> {
    const rollouts = await this.#write((db) => expireLeases(db, this.#now()));
    this.#tell(rollouts);
    return rollouts.length;
  }

  async cancelRollouts(ids: string[], reason: string): Promise<void> {
    this.#tell(await this.#write((db) => cancelRollouts(db, { ids, reason, now: this.#now() })));
  }

  async supersedeAfter(runId: string, step: number): Promise<number> {
    const { marked, cancelled } = await this.#write((db) => supersedeAfter(db, { runId, step, now: this.#now() }));
    this.#tell(cancelled);
    return marked;
  }

  getRollout(id: string): Promise<Rollout | null> {
    return this.#read((db) => findRollout(db, id));
  }

  listRollouts(query: RolloutQuery): Promise<Rollout[]> {
    return this.#read((db) => listRollouts(db, query));
  }

  async waitForRollouts(ids: string[], options: WaitOptions = {}): Promise<Rollout[]> {
    this.#assertOpen();
    const load = (wanted: string[]): Promise<Rollout[]> =>
      this.#read(async (db) => (await rolloutRows(db, wanted)).map(toRollout));
    return await this.#waiters.wait(ids, load, options);
  }

  getAttempt(id: string): Promise<Attempt | null> {
    return this.#read((db) => findAttempt(db, id));
  }

  listAttempts(rolloutId: string): Promise<Attempt[]> {
    return this.#read((db) => listAttempts(db, rolloutId));
  }

  recordCall(call: Call): Promise<void> {
    return this.#write((db) => recordCall(db, call, this.#trees));
  }

  listCalls(attemptId: string): Promise<Call[]> {
    return this.#read((db) => listCalls(db, attemptId));
  }

  addReward(reward: Omit<Reward, 'createdAt'>): Promise<void> {
    return this.#write((db) => addReward(db, reward, this.#now()));
  }

  listRewards(attemptId: string): Promise<Reward[]> {
    return this.#read((db) => listRewards(db, attemptId));
  }

  addSpans(spans: ReportedSpan[]): Promise<number> {
    return this.#write((db) => addSpans(db, spans, this.#now()));
  }

  listSpans(attemptId: string): Promise<Span[]> {
    return this.#read((db) => listSpans(db, attemptId));
  }

  addPolicyVersion(version: Omit<PolicyVersion, 'createdAt'>): Promise<void> {
    return this.#write((db) => addPolicyVersion(db, version, this.#now()));
  }

  latestPolicyVersion(policy: string): Promise<PolicyVersion | null> {
    return this.#read((db) => latestPolicyVersion(db, policy));
  }

  saveCheckpoint(checkpoint: Omit<Checkpoint, 'createdAt'> & { policy: string }): Promise<void> {
    return this.#write((db) => saveCheckpoint(db, checkpoint, this.#now()));
  }

  latestCheckpoint(runId: string): Promise<Checkpoint | null> {
    return this.#read((db) => latestCheckpoint(db, runId));
  }

  /** Writes under way are finished first; whoever waits for rollouts gets `store_closed`. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    this.#waiters.close(this.#closedError());
    await this.#writes.idle();
    await this.#options.close();
  }

  #now(): number {
    return this.#options.clock();
  }

  async #write<T>(operation: (db: Transaction<StoreSchema>) => Promise<T>): Promise<T> {
    this.#assertOpen();
    return await this.#writes.write(operation);
  }

  async #read<T>(query: (db: Kysely<StoreSchema>) => Promise<T>): Promise<T> {
    this.#assertOpen();
    return await query(this.#options.db);
  }

  #tell(rollouts: Rollout[]): void {
    this.#waiters.notify(rollouts.filter((rollout) => hasEnded(rolloutMachine, rollout.state)));
  }

  #assertOpen(): void {
    if (this.#closing !== null) throw this.#closedError();
  }

  #closedError(): StoreError {
    return new StoreError({ code: 'store_closed', message: `The store ${this.#options.name} has been closed.` });
  }
}
