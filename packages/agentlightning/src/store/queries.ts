import type {
  AnnotationTarget,
  AttemptState,
  Call,
  FailureClass,
  Resource,
  Reward,
  Rollout,
  RolloutState,
  Run,
  Span,
  UntrainableReason,
  WorkerState,
} from './types.ts';

/** Order of arrival in the store; it never changes, so paging neither skips nor repeats. */
export interface PageRequest {
  /** 1 to 1000. Default 100. */
  limit?: number;
  /** `next` of the page before. */
  after?: string;
  /** Default `oldest`. */
  order?: 'oldest' | 'newest';
}

export interface Page<T> {
  items: T[];
  /** Null on the last page. */
  next: string | null;
}

/** UTC milliseconds; `from` belongs to the range, `to` does not. */
export interface TimeRange {
  from?: number;
  to?: number;
}

export interface RunFilter {
  states?: Run['state'][];
}

/** Fields that are given must all hold. */
export interface RolloutFilter {
  runId?: string;
  taskId?: string;
  groupId?: string;
  step?: number;
  mode?: Rollout['mode'];
  states?: RolloutState[];
  failureClass?: FailureClass;
  failureCode?: string;
  /** With a call of this agent. */
  agentName?: string;
  /** With a call to this model alias. */
  model?: string;
  /** With a call that this policy answered. */
  policy?: string;
  createdAt?: TimeRange;
  /** Default false: rollouts that a resumed run replaced are left out. */
  includeSuperseded?: boolean;
}

/** Of the rollout that a call, span or reward belongs to. */
export interface OwnerFilter {
  runId?: string;
  rolloutId?: string;
  attemptId?: string;
  taskId?: string;
  step?: number;
}

export interface AttemptFilter extends Pick<OwnerFilter, 'runId' | 'rolloutId'> {
  workerId?: string;
  states?: AttemptState[];
}

export interface CallFilter extends OwnerFilter, Partial<Pick<Call, 'model' | 'dialect' | 'agentName' | 'policy'>> {
  responseId?: string;
  /** True or false: any reason or none. */
  untrainable?: boolean | UntrainableReason;
  late?: boolean;
  startedAt?: TimeRange;
}

export interface SpanFilter extends OwnerFilter, Partial<Pick<Span, 'traceId' | 'kind' | 'status'>> {
  late?: boolean;
  startedAt?: TimeRange;
}

export interface RewardFilter extends OwnerFilter, Partial<Pick<Reward, 'name' | 'source' | 'agentName' | 'callId'>> {
  late?: boolean;
  createdAt?: TimeRange;
}

export interface WorkerFilter {
  states?: WorkerState[];
}

export interface PolicyVersionFilter {
  policy?: string;
  runId?: string;
}

export type ResourceFilter = Partial<Pick<Resource, 'name' | 'kind'>>;

export interface AnnotationFilter {
  target?: AnnotationTarget;
  key?: string;
  author?: string;
}
