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
import type { WaitOptions } from '../waiters.ts';
import { annotate, queryAnnotations } from './annotations.ts';
import { findAttempt, listAttempts, queryAttempts } from './attempts.ts';
import { findCall, queryCalls } from './call-queries.ts';
import { CallTrees } from './call-trees.ts';
import { listCalls, recordCall } from './calls.ts';
import { cancelRollouts, requeueRollouts, supersedeAfter } from './cancel.ts';
import { lastChange } from './changes.ts';
import { claimRollouts, heartbeat } from './claims.ts';
import { Commits, type CommitsOptions } from './commits.ts';
import { expireLeases, finishAttempt, leaveWorker } from './endings.ts';
import { feedOf } from './feed.ts';
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
import { addSpans, listSpans, querySpans } from './spans.ts';
import { findWorker, heartbeatWorker, queryWorkers, registerWorker } from './workers.ts';

export interface SqlStoreOptions extends CommitsOptions {
  /** UTC, whole milliseconds. */
  clock: () => number;
  /** Time-ordered ids for attempts. */
  ids: () => string;
}

/** The store's verbs, each one call of a function that works in a transaction. Whoever waits is told after the commit. */
export class SqlStore implements Store {
  readonly #options: SqlStoreOptions;
  readonly #commits: Commits;
  readonly #trees = new CallTrees();

  constructor(options: SqlStoreOptions) {
    this.#options = options;
    this.#commits = new Commits(options, { onRollback: () => this.#trees.clear() });
  }

  createRun(run: Pick<Run, 'id' | 'config'>): Promise<Run> {
    return this.#commits.write((db) => createRun(db, run, this.#now()));
  }

  getRun(id: string): Promise<Run | null> {
    return this.#commits.read((db) => findRun(db, id));
  }

  listRuns(): Promise<Run[]> {
    return this.#commits.read(listRuns);
  }

  queryRuns(query: RunFilter & PageRequest): Promise<Page<Run>> {
    return this.#commits.read((db) => queryRuns(db, query));
  }

  finishRun(id: string, state: 'finished' | 'failed'): Promise<void> {
    return this.#commits.write((db) => finishRun(db, { id, state, now: this.#now() }));
  }

  putTasks(tasks: Task[]): Promise<void> {
    return this.#commits.write((db) => putTasks(db, tasks));
  }

  async getTask(id: string): Promise<Task | null> {
    const found = await this.#commits.read((db) => findTasks(db, [id]));
    return found.get(id) ?? null;
  }

  queryTasks(query: PageRequest): Promise<Page<Task>> {
    return this.#commits.read((db) => queryTasks(db, query));
  }

  async enqueueRollouts(requests: RolloutRequest[]): Promise<Rollout[]> {
    const rollouts = await this.#commits.write((db) => enqueueRollouts(db, requests, this.#now()));
    this.#commits.tell(rollouts);
    return rollouts;
  }

  async claimRollouts({ waitMs = 0, signal, ...request }: ClaimOptions): Promise<Claim[]> {
    const end = performance.now() + waitMs;
    for (;;) {
      if (signal?.aborted) return [];
      const { rung } = this.#commits.queued;
      const claims = await this.#commits.write((db) =>
        claimRollouts(db, request, { now: this.#now(), ids: this.#options.ids }),
      );
      const leftMs = end - performance.now();
      if (claims.length > 0 || request.limit < 1 || leftMs <= 0) return claims;
      await this.#commits.queued.wait(rung, { signal, timeoutMs: leftMs });
    }
  }

  heartbeat(lease: Lease, leaseMs: number): Promise<boolean> {
    return this.#commits.write((db) => heartbeat(db, { ...lease, leaseMs, now: this.#now() }));
  }

  async finishAttempt(lease: Lease, outcome: AttemptOutcome): Promise<Rollout> {
    const rollout = await this.#commits.write((db) => finishAttempt(db, { ...lease, outcome, now: this.#now() }));
    this.#trees.forget(lease.attemptId);
    this.#commits.tell([rollout]);
    return rollout;
  }

  async expireLeases(): Promise<number> {
    const rollouts = await this.#commits.write((db) => expireLeases(db, this.#now()));
    this.#commits.tell(rollouts);
    return rollouts.length;
  }

  async cancelRollouts(ids: string[], reason: string): Promise<void> {
    this.#commits.tell(await this.#commits.write((db) => cancelRollouts(db, { ids, reason, now: this.#now() })));
  }

  async requeueRollouts(ids: string[]): Promise<Rollout[]> {
    const rollouts = await this.#commits.write((db) => requeueRollouts(db, ids, this.#now()));
    this.#commits.tell(rollouts);
    return rollouts;
  }

  async supersedeAfter(runId: string, step: number): Promise<number> {
    const { marked, cancelled } = await this.#commits.write((db) =>
      supersedeAfter(db, { runId, step, now: this.#now() }),
    );
    this.#commits.tell(cancelled);
    return marked;
  }

  getRollout(id: string): Promise<Rollout | null> {
    return this.#commits.read((db) => findRollout(db, id));
  }

  listRollouts(query: RolloutQuery): Promise<Rollout[]> {
    return this.#commits.read((db) => listRollouts(db, query));
  }

  queryRollouts(query: RolloutFilter & PageRequest): Promise<Page<Rollout>> {
    return this.#commits.read((db) => queryRollouts(db, query));
  }

  async waitForRollouts(ids: string[], options: WaitOptions = {}): Promise<Rollout[]> {
    this.#commits.assertOpen();
    const load = (wanted: string[]): Promise<Rollout[]> =>
      this.#commits.read(async (db) => (await rolloutRows(db, wanted)).map(toRollout));
    return await this.#commits.waiters.wait(ids, load, options);
  }

  getAttempt(id: string): Promise<Attempt | null> {
    return this.#commits.read((db) => findAttempt(db, id));
  }

  listAttempts(rolloutId: string): Promise<Attempt[]> {
    return this.#commits.read((db) => listAttempts(db, rolloutId));
  }

  queryAttempts(query: AttemptFilter & PageRequest): Promise<Page<Attempt>> {
    return this.#commits.read((db) => queryAttempts(db, query));
  }

  recordCall(call: Call): Promise<void> {
    return this.#commits.write((db) => recordCall(db, call, { trees: this.#trees, now: this.#now() }));
  }

  listCalls(attemptId: string): Promise<Call[]> {
    return this.#commits.read((db) => listCalls(db, attemptId));
  }

  getCall(id: string): Promise<Call | null> {
    return this.#commits.read((db) => findCall(db, id));
  }

  queryCalls(query: CallFilter & PageRequest): Promise<Page<CallSummary>> {
    return this.#commits.read((db) => queryCalls(db, query));
  }

  addReward(reward: Omit<Reward, 'createdAt' | 'late'>): Promise<void> {
    return this.#commits.write((db) => addReward(db, reward, this.#now()));
  }

  listRewards(attemptId: string): Promise<Reward[]> {
    return this.#commits.read((db) => listRewards(db, attemptId));
  }

  queryRewards(query: RewardFilter & PageRequest): Promise<Page<Reward>> {
    return this.#commits.read((db) => queryRewards(db, query));
  }

  addSpans(spans: ReportedSpan[]): Promise<number> {
    return this.#commits.write((db) => addSpans(db, spans, this.#now()));
  }

  listSpans(attemptId: string): Promise<Span[]> {
    return this.#commits.read((db) => listSpans(db, attemptId));
  }

  querySpans(query: SpanFilter & PageRequest): Promise<Page<Span>> {
    return this.#commits.read((db) => querySpans(db, query));
  }

  addPolicyVersion(version: Omit<PolicyVersion, 'createdAt'>): Promise<void> {
    return this.#commits.write((db) => addPolicyVersion(db, version, this.#now()));
  }

  latestPolicyVersion(policy: string): Promise<PolicyVersion | null> {
    return this.#commits.read((db) => latestPolicyVersion(db, policy));
  }

  queryPolicyVersions(query: PolicyVersionFilter & PageRequest): Promise<Page<PolicyVersion>> {
    return this.#commits.read((db) => queryPolicyVersions(db, query));
  }

  saveCheckpoint(checkpoint: Omit<Checkpoint, 'createdAt'> & { policy: string }): Promise<void> {
    return this.#commits.write((db) => saveCheckpoint(db, checkpoint, this.#now()));
  }

  latestCheckpoint(runId: string): Promise<Checkpoint | null> {
    return this.#commits.read((db) => latestCheckpoint(db, runId));
  }

  queryCheckpoints(query: { runId: string } & PageRequest): Promise<Page<Checkpoint>> {
    return this.#commits.read((db) => queryCheckpoints(db, query));
  }

  addResource(resource: NewResource): Promise<Resource> {
    return this.#commits.write((db) => addResource(db, resource, this.#now()));
  }

  getResource(name: string, version: number): Promise<Resource | null> {
    return this.#commits.read((db) => findResource(db, name, version));
  }

  latestResources(names?: string[]): Promise<Resource[]> {
    return this.#commits.read((db) => latestResources(db, names));
  }

  queryResources(query: ResourceFilter & PageRequest): Promise<Page<Resource>> {
    return this.#commits.read((db) => queryResources(db, query));
  }

  registerWorker(worker: Pick<Worker, 'id' | 'info'> & { leaseMs: number }): Promise<Worker> {
    return this.#commits.write((db) => registerWorker(db, { ...worker, now: this.#now() }));
  }

  heartbeatWorker(id: string, leaseMs: number): Promise<Worker> {
    return this.#commits.write((db) => heartbeatWorker(db, { id, leaseMs, now: this.#now() }));
  }

  async leaveWorker(id: string): Promise<Worker> {
    const { worker, rollouts } = await this.#commits.write((db) => leaveWorker(db, { id, now: this.#now() }));
    this.#commits.tell(rollouts);
    return worker;
  }

  getWorker(id: string): Promise<Worker | null> {
    return this.#commits.read((db) => findWorker(db, id));
  }

  queryWorkers(query: WorkerFilter & PageRequest): Promise<Page<Worker>> {
    return this.#commits.read((db) => queryWorkers(db, query));
  }

  annotate(annotation: Omit<Annotation, 'createdAt'>): Promise<Annotation> {
    return this.#commits.write((db) => annotate(db, annotation, this.#now()));
  }

  queryAnnotations(query: AnnotationFilter & PageRequest): Promise<Page<Annotation>> {
    return this.#commits.read((db) => queryAnnotations(db, query));
  }

  async prune(rules: PruneRules): Promise<PruneReport> {
    const report = nothingPruned();
    for (const { id: runId } of expiredRuns(await this.listRuns(), rules, this.#now())) {
      let touched = false;
      for (;;) {
        const removed = await this.#commits.write((db) =>
          pruneStep(db, { runId, remove: rules.remove, now: this.#now() }),
        );
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
    return feedOf((query) => this.#commits.read(query), this.#commits.committed, options);
  }

  lastChange(): Promise<number> {
    return this.#commits.read(lastChange);
  }

  close(): Promise<void> {
    return this.#commits.close();
  }

  #now(): number {
    return this.#options.clock();
  }
}
