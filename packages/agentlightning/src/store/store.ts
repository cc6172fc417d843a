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
  RolloutState,
  Run,
  Span,
  Task,
} from './types.ts';

export interface RolloutQuery {
  runId?: string;
  step?: number;
  mode?: Rollout['mode'];
  states?: RolloutState[];
  /** Default false: rollouts that a resumed run replaced are left out. */
  includeSuperseded?: boolean;
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
  finishRun(id: string, state: 'finished' | 'failed'): Promise<void>;

  /** Idempotent by task id; the last content wins. */
  putTasks(tasks: Task[]): Promise<void>;
  getTask(id: string): Promise<Task | null>;

  /** Idempotent by rollout id: an existing rollout is returned as it is. */
  enqueueRollouts(requests: RolloutRequest[]): Promise<Rollout[]>;
  /** Takes up to `limit` queued rollouts, oldest first, each with a new running attempt. */
  claimRollouts(options: { workerId: string; limit: number; leaseMs: number; runId?: string }): Promise<Claim[]>;
  /** Extends the lease. Returns false when the attempt is no longer the running one: its worker must stop. */
  heartbeat(attemptId: string, leaseMs: number): Promise<boolean>;
  /**
   * Ends an attempt and decides about its rollout: success ends it; an infrastructure failure queues it again until
   * `maxAttempts`; an agent failure ends it (its reward counts). A late finish of a fenced attempt changes nothing and returns the rollout.
   */
  finishAttempt(attemptId: string, outcome: AttemptOutcome): Promise<Rollout>;
  /** Attempts whose lease ran out become failed (`infrastructure`, `worker_lost`) and their rollouts are queued again or failed. Returns how many. */
  expireLeases(): Promise<number>;
  /** Rollouts that have ended meanwhile stay as they are. */
  cancelRollouts(ids: string[], reason: string): Promise<void>;
  /** Marks rollouts of a run after `step` as superseded and cancels those not yet ended. Returns how many. */
  supersedeAfter(runId: string, step: number): Promise<number>;
  getRollout(id: string): Promise<Rollout | null>;
  listRollouts(query: RolloutQuery): Promise<Rollout[]>;
  /** Resolves when every named rollout has ended. Pushed within the process, never by a busy loop. */
  waitForRollouts(
    ids: string[],
    options?: { signal?: AbortSignal; onEnded?: (rollout: Rollout) => void },
  ): Promise<Rollout[]>;
  getAttempt(id: string): Promise<Attempt | null>;
  listAttempts(rolloutId: string): Promise<Attempt[]>;

  /** Calls share prefixes with an earlier call of their attempt: ids and messages are stored once. Idempotent by call id. */
  recordCall(call: Call): Promise<void>;
  /** In order of `sequence`, with prompt ids and messages rebuilt whole. */
  listCalls(attemptId: string): Promise<Call[]>;

  addReward(reward: Omit<Reward, 'createdAt'>): Promise<void>;
  listRewards(attemptId: string): Promise<Reward[]>;

  /**
   * Spans and their rewards (source `agent`) in one write. Idempotent by attempt, trace id and span id: a span that is
   * there already adds nothing, no rewards either. Returns how many were new.
   */
  addSpans(spans: ReportedSpan[]): Promise<number>;
  /** By time of start. */
  listSpans(attemptId: string): Promise<Span[]>;

  addPolicyVersion(version: Omit<PolicyVersion, 'createdAt'>): Promise<void>;
  /** The version announced last, also when a resumed run announced a number again. */
  latestPolicyVersion(policy: string): Promise<PolicyVersion | null>;

  saveCheckpoint(checkpoint: Omit<Checkpoint, 'createdAt'> & { policy: string }): Promise<void>;
  latestCheckpoint(runId: string): Promise<Checkpoint | null>;

  close(): Promise<void>;
}
