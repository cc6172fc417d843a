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
} from './queries.ts';
import type { PruneReport, PruneRules } from './retention.ts';
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
} from './types.ts';

export type RolloutQuery = Pick<RolloutFilter, 'runId' | 'step' | 'mode' | 'states' | 'includeSuperseded'>;

export interface ClaimOptions {
  /** Registered by its first claim when it is not yet. */
  workerId: string;
  limit: number;
  leaseMs: number;
  /** Takes rollouts of this run alone. */
  runId?: string;
  /** When nothing is queued: waits as long for work, and takes it as soon as it comes. Default 0. */
  waitMs?: number;
  /** Ends the waiting; the claim is then empty. */
  signal?: AbortSignal;
}

export interface ChangeOptions {
  /** Begins after this change; without it, with what happens from now on. 0: with the oldest that is kept. */
  after?: number;
  /** Ends the iteration. */
  signal?: AbortSignal;
}

/**
 * The only contract between the side that runs agents and the side that learns (design §1).
 * Every write is durable against a killed process when its promise resolves.
 * Illegal steps of a state machine throw `IllegalTransitionError`; unknown ids throw `NotFoundError`.
 */
export interface Store {
  createRun(run: Pick<Run, 'id' | 'config'>): Promise<Run>;
  getRun(id: string): Promise<Run | null>;
  /** Newest first. */
  listRuns(): Promise<Run[]>;
  queryRuns(query: RunFilter & PageRequest): Promise<Page<Run>>;
  finishRun(id: string, state: 'finished' | 'failed'): Promise<void>;

  /** Idempotent by task id; the last content wins. */
  putTasks(tasks: Task[]): Promise<void>;
  getTask(id: string): Promise<Task | null>;
  /** By id. */
  queryTasks(query: PageRequest): Promise<Page<Task>>;

  /** Idempotent by rollout id: an existing rollout is returned as it is. */
  enqueueRollouts(requests: RolloutRequest[]): Promise<Rollout[]>;
  /** Takes up to `limit` queued rollouts, oldest first, each with a new running attempt that pins its resource versions. */
  claimRollouts(options: ClaimOptions): Promise<Claim[]>;
  /**
   * Extends the lease. Returns false when the attempt is no longer the running one: its worker must stop.
   * A worker that does not hold the lease gets `not_lease_holder`, here and from `finishAttempt`.
   */
  heartbeat(lease: Lease, leaseMs: number): Promise<boolean>;
  /**
   * Ends an attempt and decides about its rollout: success ends it; an infrastructure failure queues it again until
   * `maxAttempts`; an agent failure ends it (its reward counts). A late finish of a fenced attempt changes nothing, is kept as
   * annotation `late_finish` of the attempt, and returns the rollout.
   */
  finishAttempt(lease: Lease, outcome: AttemptOutcome): Promise<Rollout>;
  /**
   * Attempts whose lease ran out become failed (`infrastructure`, `worker_lost`) and their rollouts are queued again or
   * failed; workers without a sign of life become lost. Returns how many attempts.
   */
  expireLeases(): Promise<number>;
  /** Rollouts that have ended meanwhile stay as they are. */
  cancelRollouts(ids: string[], reason: string): Promise<void>;
  /**
   * Ended rollouts are queued for one more attempt, also when `maxAttempts` is used up. All or none: a rollout that has
   * not ended is an illegal step, a superseded one `rollout_superseded`.
   */
  requeueRollouts(ids: string[]): Promise<Rollout[]>;
  /** Marks rollouts of a run after `step` as superseded and cancels those not yet ended. Returns how many. */
  supersedeAfter(runId: string, step: number): Promise<number>;
  getRollout(id: string): Promise<Rollout | null>;
  /** All at once. */
  listRollouts(query: RolloutQuery): Promise<Rollout[]>;
  queryRollouts(query: RolloutFilter & PageRequest): Promise<Page<Rollout>>;
  /** Resolves when every named rollout has ended. Pushed, never by a busy loop. */
  waitForRollouts(
    ids: string[],
    options?: { signal?: AbortSignal; onEnded?: (rollout: Rollout) => void },
  ): Promise<Rollout[]>;
  getAttempt(id: string): Promise<Attempt | null>;
  listAttempts(rolloutId: string): Promise<Attempt[]>;
  queryAttempts(query: AttemptFilter & PageRequest): Promise<Page<Attempt>>;

  /** Calls share prefixes with an earlier call of their attempt: ids and messages are stored once. Idempotent by call id. */
  recordCall(call: Call): Promise<void>;
  /** In order of `sequence`, with prompt ids and messages rebuilt whole. */
  listCalls(attemptId: string): Promise<Call[]>;
  /** The whole call. */
  getCall(id: string): Promise<Call | null>;
  /** Also by the id of an answer (`responseId`), by which spans name calls. */
  queryCalls(query: CallFilter & PageRequest): Promise<Page<CallSummary>>;

  addReward(reward: Omit<Reward, 'createdAt' | 'late'>): Promise<void>;
  listRewards(attemptId: string): Promise<Reward[]>;
  queryRewards(query: RewardFilter & PageRequest): Promise<Page<Reward>>;

  /**
   * Spans and their rewards (source `agent`) in one write. Idempotent by attempt, trace id and span id: a span that is
   * there already adds nothing, no rewards either. Returns how many were new.
   */
  addSpans(spans: ReportedSpan[]): Promise<number>;
  /** By time of start. */
  listSpans(attemptId: string): Promise<Span[]>;
  querySpans(query: SpanFilter & PageRequest): Promise<Page<Span>>;

  addPolicyVersion(version: Omit<PolicyVersion, 'createdAt'>): Promise<void>;
  /** The version announced last, also when a resumed run announced a number again. */
  latestPolicyVersion(policy: string): Promise<PolicyVersion | null>;
  /** In the order in which they were announced; one that is announced again moves to the end. */
  queryPolicyVersions(query: PolicyVersionFilter & PageRequest): Promise<Page<PolicyVersion>>;

  saveCheckpoint(checkpoint: Omit<Checkpoint, 'createdAt'> & { policy: string }): Promise<void>;
  latestCheckpoint(runId: string): Promise<Checkpoint | null>;
  /** Of one run, by step. */
  queryCheckpoints(query: { runId: string } & PageRequest): Promise<Page<Checkpoint>>;

  /** A new version of the name, or the one that has this very content already; that one is the latest then, unless it is a draft. */
  addResource(resource: NewResource): Promise<Resource>;
  getResource(name: string, version: number): Promise<Resource | null>;
  /** Of all names, or of these; a name that has drafts alone is left out. By name. */
  latestResources(names?: string[]): Promise<Resource[]>;
  queryResources(query: ResourceFilter & PageRequest): Promise<Page<Resource>>;

  /** Idempotent: registering again updates what is known of it, and brings it back when it was lost or gone. */
  registerWorker(worker: Pick<Worker, 'id' | 'info'> & { leaseMs: number }): Promise<Worker>;
  /** A sign of life of an idle worker; heartbeats of attempts count as one too. A lost worker is back by it. */
  heartbeatWorker(id: string, leaseMs: number): Promise<Worker>;
  /** It is gone; attempts that it still held are lost (`worker_left`) and their rollouts queued again or failed. */
  leaveWorker(id: string): Promise<Worker>;
  getWorker(id: string): Promise<Worker | null>;
  queryWorkers(query: WorkerFilter & PageRequest): Promise<Page<Worker>>;

  annotate(annotation: Omit<Annotation, 'createdAt'>): Promise<Annotation>;
  queryAnnotations(query: AnnotationFilter & PageRequest): Promise<Page<Annotation>>;

  /**
   * Every committed change, in order, for as long as it is iterated; pushed. At least the last 100,000 are kept: asking
   * for what came after an older one is `changes_expired`, and then the reader looks at the whole state again.
   */
  changes(options?: ChangeOptions): AsyncIterable<Change>;
  /** Number of the newest change, 0 when there is none: what `changes` without `after` begins behind. */
  lastChange(): Promise<number>;

  /**
   * Removes what the rules name of runs that have ended, in small transactions: whole attempts at a time, so shared prefixes stay whole.
   * What an interrupted prune left is removed by the next one.
   */
  prune(rules: PruneRules): Promise<PruneReport>;

  close(): Promise<void>;
}
