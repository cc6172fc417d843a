import type { Kysely, Transaction } from 'kysely';
import { Bell } from '../bell.ts';
import { StoreError } from '../errors.ts';
import type {
  AnnotationFilter,
  AttemptFilter,
  CallFilter,
  Page,
  PageRequest,
  PolicyVersionFilter,
  ResourceFilter,
  RewardFilter,
  RolloutFilter,
  RunFilter,
  SpanFilter,
  WorkerFilter,
} from '../queries.ts';
import { expiredRuns, nothingPruned, type PruneReport, type PruneRules } from '../retention.ts';
import type { ChangeOptions, ClaimOptions, RolloutQuery, Store } from '../store.ts';
import { hasEnded, rolloutMachine } from '../transitions.ts';
import type {
  Annotation,
  Attempt,
  AttemptOutcome,
  Call,
  CallSummary,
  Change,
  Checkpoint,
  Claim,
  Lease,
  NewResource,
  PolicyVersion,
  ReportedSpan,
  Resource,
  Reward,
  Rollout,
  RolloutRequest,
  Run,
  Span,
  Task,
  Worker,
} from '../types.ts';
import { RolloutWaiters, type WaitOptions } from '../waiters.ts';
import type { Access } from './access.ts';
import { annotate, queryAnnotations } from './annotations.ts';
import { findAttempt, listAttempts, queryAttempts } from './attempts.ts';
import { findCall, queryCalls } from './call-queries.ts';
import { CallTrees } from './call-trees.ts';
import { listCalls, recordCall } from './calls.ts';
import { cancelRollouts, requeueRollouts, supersedeAfter } from './cancel.ts';
import { lastChange } from './changes.ts';
import { claimRollouts, heartbeat } from './claims.ts';
import { expireLeases, finishAttempt, leaveWorker } from './endings.ts';
import { feedOf } from './feed.ts';
import { GroupCommit } from './group-commit.ts';
import {
  addPolicyVersion,
  latestCheckpoint,
  latestPolicyVersion,
  queryCheckpoints,
  queryPolicyVersions,
  saveCheckpoint,
} from './policies.ts';
import { addResource, findResource, latestResources, queryResources } from './resources.ts';
import { pruneStep } from './retention.ts';
import { addReward, listRewards, queryRewards } from './rewards.ts';
import { enqueueRollouts, findRollout, listRollouts, queryRollouts, rolloutRows } from './rollouts.ts';
import { toRollout } from './rows.ts';
import { createRun, findRun, findTasks, finishRun, listRuns, putTasks, queryRuns, queryTasks } from './runs.ts';
import type { StoreSchema } from './schema.ts';
import { addSpans, listSpans, querySpans } from './spans.ts';
import { findWorker, heartbeatWorker, queryWorkers, registerWorker } from './workers.ts';

export interface SqlStoreOptions {
  access: Access;
  /** For error messages. */
  name: string;
  /** UTC, whole milliseconds. */
  clock: () => number;
  /** Time-ordered ids for attempts. */
  ids: () => string;
  /**
   * Tells of commits of other processes, as a hint: calls back when there may be some, and whether a rollout may be
   * among what they changed. Returns how to end it.
   */
  watch?: (onHint: (rollouts: boolean) => void) => () => void;
  /** Called once, after the last write. */
  close: () => Promise<void>;
}

/** The store's verbs, each one call of a function that works in a transaction. Whoever waits is told after the commit. */
export class SqlStore implements Store {
  readonly #options: SqlStoreOptions;
  readonly #writes: GroupCommit<Transaction<StoreSchema>>;
  readonly #trees = new CallTrees();
  readonly #waiters = new RolloutWaiters();
  readonly #committed = new Bell();
  readonly #queued = new Bell();
  /** Under way. */
  readonly #reads = new Set<Promise<void>>();
  readonly #unwatch: () => void;
  #closing: Promise<void> | null = null;

  constructor(options: SqlStoreOptions) {
    this.#options = options;
    this.#writes = new GroupCommit({
      transact: options.access.write,
      onRollback: () => this.#trees.clear(),
    });
    this.#unwatch = options.watch?.((rollouts) => this.#hint(rollouts)) ?? (() => {});
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

  queryRuns(query: RunFilter & PageRequest): Promise<Page<Run>> {
    return this.#read((db) => queryRuns(db, query));
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

  queryTasks(query: PageRequest): Promise<Page<Task>> {
    return this.#read((db) => queryTasks(db, query));
  }

  async enqueueRollouts(requests: RolloutRequest[]): Promise<Rollout[]> {
    const rollouts = await this.#write((db) => enqueueRollouts(db, requests, this.#now()));
    this.#tell(rollouts);
    return rollouts;
  }

  async claimRollouts({ waitMs = 0, signal, ...request }: ClaimOptions): Promise<Claim[]> {
    const end = performance.now() + waitMs;
    for (;;) {
      if (signal?.aborted) return [];
      const { rung } = this.#queued;
      const claims = await this.#write((db) =>
        claimRollouts(db, request, { now: this.#now(), ids: this.#options.ids }),
      );
      const leftMs = end - performance.now();
      if (claims.length > 0 || request.limit < 1 || leftMs <= 0) return claims;
      await this.#queued.wait(rung, { signal, timeoutMs: leftMs });
    }
  }

  heartbeat(lease: Lease, leaseMs: number): Promise<boolean> {
    return this.#write((db) => heartbeat(db, { ...lease, leaseMs, now: this.#now() }));
  }

  async finishAttempt(lease: Lease, outcome: AttemptOutcome): Promise<Rollout> {
    const rollout = await this.#write((db) => finishAttempt(db, { ...lease, outcome, now: this.#now() }));
    this.#trees.forget(lease.attemptId);
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

  async requeueRollouts(ids: string[]): Promise<Rollout[]> {
    const rollouts = await this.#write((db) => requeueRollouts(db, ids, this.#now()));
    this.#tell(rollouts);
    return rollouts;
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

  queryRollouts(query: RolloutFilter & PageRequest): Promise<Page<Rollout>> {
    return this.#read((db) => queryRollouts(db, query));
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

  queryAttempts(query: AttemptFilter & PageRequest): Promise<Page<Attempt>> {
    return this.#read((db) => queryAttempts(db, query));
  }

  recordCall(call: Call): Promise<void> {
    return this.#write((db) => recordCall(db, call, { trees: this.#trees, now: this.#now() }));
  }

  listCalls(attemptId: string): Promise<Call[]> {
    return this.#read((db) => listCalls(db, attemptId));
  }

  getCall(id: string): Promise<Call | null> {
    return this.#read((db) => findCall(db, id));
  }

  queryCalls(query: CallFilter & PageRequest): Promise<Page<CallSummary>> {
    return this.#read((db) => queryCalls(db, query));
  }

  addReward(reward: Omit<Reward, 'createdAt' | 'late'>): Promise<void> {
    return this.#write((db) => addReward(db, reward, this.#now()));
  }

  listRewards(attemptId: string): Promise<Reward[]> {
    return this.#read((db) => listRewards(db, attemptId));
  }

  queryRewards(query: RewardFilter & PageRequest): Promise<Page<Reward>> {
    return this.#read((db) => queryRewards(db, query));
  }

  addSpans(spans: ReportedSpan[]): Promise<number> {
    return this.#write((db) => addSpans(db, spans, this.#now()));
  }

  listSpans(attemptId: string): Promise<Span[]> {
    return this.#read((db) => listSpans(db, attemptId));
  }

  querySpans(query: SpanFilter & PageRequest): Promise<Page<Span>> {
    return this.#read((db) => querySpans(db, query));
  }

  addPolicyVersion(version: Omit<PolicyVersion, 'createdAt'>): Promise<void> {
    return this.#write((db) => addPolicyVersion(db, version, this.#now()));
  }

  latestPolicyVersion(policy: string): Promise<PolicyVersion | null> {
    return this.#read((db) => latestPolicyVersion(db, policy));
  }

  queryPolicyVersions(query: PolicyVersionFilter & PageRequest): Promise<Page<PolicyVersion>> {
    return this.#read((db) => queryPolicyVersions(db, query));
  }

  saveCheckpoint(checkpoint: Omit<Checkpoint, 'createdAt'> & { policy: string }): Promise<void> {
    return this.#write((db) => saveCheckpoint(db, checkpoint, this.#now()));
  }

  latestCheckpoint(runId: string): Promise<Checkpoint | null> {
    return this.#read((db) => latestCheckpoint(db, runId));
  }

  queryCheckpoints(query: { runId: string } & PageRequest): Promise<Page<Checkpoint>> {
    return this.#read((db) => queryCheckpoints(db, query));
  }

  addResource(resource: NewResource): Promise<Resource> {
    return this.#write((db) => addResource(db, resource, this.#now()));
  }

  getResource(name: string, version: number): Promise<Resource | null> {
    return this.#read((db) => findResource(db, name, version));
  }

  latestResources(names?: string[]): Promise<Resource[]> {
    return this.#read((db) => latestResources(db, names));
  }

  queryResources(query: ResourceFilter & PageRequest): Promise<Page<Resource>> {
    return this.#read((db) => queryResources(db, query));
  }

  registerWorker(worker: Pick<Worker, 'id' | 'info'> & { leaseMs: number }): Promise<Worker> {
    return this.#write((db) => registerWorker(db, { ...worker, now: this.#now() }));
  }

  heartbeatWorker(id: string, leaseMs: number): Promise<Worker> {
    return this.#write((db) => heartbeatWorker(db, { id, leaseMs, now: this.#now() }));
  }

  async leaveWorker(id: string): Promise<Worker> {
    const { worker, rollouts } = await this.#write((db) => leaveWorker(db, { id, now: this.#now() }));
    this.#tell(rollouts);
    return worker;
  }

  getWorker(id: string): Promise<Worker | null> {
    return this.#read((db) => findWorker(db, id));
  }

  queryWorkers(query: WorkerFilter & PageRequest): Promise<Page<Worker>> {
    return this.#read((db) => queryWorkers(db, query));
  }

  annotate(annotation: Omit<Annotation, 'createdAt'>): Promise<Annotation> {
    return this.#write((db) => annotate(db, annotation, this.#now()));
  }

  queryAnnotations(query: AnnotationFilter & PageRequest): Promise<Page<Annotation>> {
    return this.#read((db) => queryAnnotations(db, query));
  }

  async prune(rules: PruneRules): Promise<PruneReport> {
    const report = nothingPruned();
    for (const { id: runId } of expiredRuns(await this.listRuns(), rules, this.#now())) {
      let touched = false;
      for (;;) {
        const removed = await this.#write((db) => pruneStep(db, { runId, remove: rules.remove, now: this.#now() }));
        if (removed === null) break;
        touched = true;
        for (const [kind, count] of Object.entries(removed)) report[kind as keyof typeof removed] += count;
      }
      if (touched) report.runs += 1;
    }
    if (report.calls > 0) this.#trees.clear();
    return report;
  }

  changes(options: ChangeOptions = {}): AsyncIterable<Change> {
    return feedOf((query) => this.#read(query), this.#committed, options);
  }

  lastChange(): Promise<number> {
    return this.#read(lastChange);
  }

  /** Reads and writes under way are finished first; whoever waits for rollouts, work or changes gets `store_closed`. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    this.#unwatch();
    const error = this.#closedError();
    this.#waiters.close(error);
    this.#queued.close(error);
    this.#committed.close(error);
    await this.#writes.idle();
    await Promise.all(this.#reads);
    await this.#options.close();
  }

  #now(): number {
    return this.#options.clock();
  }

  async #write<T>(operation: (db: Transaction<StoreSchema>) => Promise<T>): Promise<T> {
    this.#assertOpen();
    const value = await this.#writes.write(operation);
    this.#committed.ring();
    return value;
  }

  async #read<T>(query: (db: Kysely<StoreSchema>) => Promise<T>): Promise<T> {
    this.#assertOpen();
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

  #tell(rollouts: Rollout[]): void {
    this.#waiters.notify(rollouts.filter((rollout) => hasEnded(rolloutMachine, rollout.state)));
    if (rollouts.some(({ state }) => state === 'queued')) this.#queued.ring();
  }

  #hint(rollouts: boolean): void {
    this.#committed.ring();
    if (!rollouts) return;
    this.#waiters.lookAgain();
    this.#queued.ring();
  }

  #assertOpen(): void {
    if (this.#closing !== null) throw this.#closedError();
  }

  #closedError(): StoreError {
    return new StoreError({ code: 'store_closed', message: `The store ${this.#options.name} has been closed.` });
  }
}
