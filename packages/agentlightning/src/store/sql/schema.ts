import type { ColumnType, Generated } from 'kysely';
import type {
  AnnotationTarget,
  AttemptState,
  CallChoice,
  ChangeKind,
  FailureClass,
  Resource,
  Reward,
  RolloutMode,
  RolloutState,
  Run,
  Span,
  UntrainableReason,
  WorkerState,
} from '../types.ts';

/**
 * Column types of the tables, the same for every dialect. `JsonText` columns hold JSON as text: it keeps the order
 * of keys, and characters that a text column would lose (NUL, lone surrogates).
 */
type JsonText = string;
/** Position in the order of insertion; given by the database. */
type Sequence = ColumnType<number, never, never>;

export interface RunTable {
  seq: Sequence;
  id: string;
  config: JsonText;
  state: Run['state'];
  created_at: number;
  ended_at: number | null;
}

export interface TaskTable {
  id: string;
  input: JsonText;
  private: JsonText;
}

export interface RolloutTable {
  seq: Sequence;
  id: string;
  run_id: string;
  task_id: string;
  group_id: string;
  mode: RolloutMode;
  step: number;
  seed: number;
  max_attempts: number;
  state: RolloutState;
  attempts: Generated<number>;
  failure: JsonText | null;
  /** From `failure`, for queries. */
  failure_class: FailureClass | null;
  failure_code: string | null;
  superseded: Generated<0 | 1>;
  resources: Generated<JsonText>;
  created_at: number;
  ended_at: number | null;
}

export interface AttemptTable {
  id: string;
  rollout_id: string;
  number: number;
  state: AttemptState;
  failure: JsonText | null;
  /** 1 when somebody else than its worker ended it: the lease ran out or the rollout was cancelled. */
  fenced: Generated<0 | 1>;
  worker_id: string;
  lease_until: number;
  output: JsonText | null;
  exit_code: number | null;
  resources: Generated<JsonText>;
  started_at: number;
  ended_at: number | null;
  run_id: string;
}

export interface CallTable {
  seq: Sequence;
  id: string;
  attempt_id: string;
  sequence: number;
  agent_name: string | null;
  model: string;
  policy: string | null;
  dialect: string;
  /** Without the items that the parent has. */
  request: JsonText;
  response: JsonText | null;
  parent_id: string | null;
  shared_tokens: number;
  /** Field of the request → number of its leading items that the parent has. */
  shared_items: JsonText;
  /** Token ids after the shared ones; null when the upstream gave none. */
  prompt_ids: Uint8Array | null;
  sampling: JsonText;
  overridden: JsonText;
  untrainable: UntrainableReason | null;
  error: JsonText | null;
  started_at: number;
  latency_ms: number;
  time_to_first_token_ms: number | null;
  run_id: string;
  response_id: string | null;
  late: 0 | 1;
}

export interface CallChoiceTable {
  call_id: string;
  /** Place in the call's list of choices. */
  position: number;
  index: number;
  token_ids: Uint8Array;
  log_probs: Uint8Array;
  finish_reason: CallChoice['finishReason'];
  text: JsonText;
  policy_versions: JsonText;
}

export interface RewardTable {
  seq: Sequence;
  attempt_id: string;
  name: string;
  value: number | null;
  source: Reward['source'];
  agent_name: string | null;
  call_id: string | null;
  created_at: number;
  run_id: string;
  late: 0 | 1;
}

export interface SpanTable {
  seq: Sequence;
  attempt_id: string;
  trace_id: string;
  span_id: string;
  parent_span_id: string | null;
  name: JsonText;
  kind: Span['kind'];
  started_at: number;
  ended_at: number;
  status: Span['status'];
  status_message: JsonText | null;
  attributes: JsonText;
  events: JsonText;
  links: JsonText;
  resource: JsonText;
  scope: JsonText | null;
  run_id: string;
  late: 0 | 1;
}

export interface PolicyVersionTable {
  run_id: string;
  policy: string;
  version: number;
  step: number;
  path: string | null;
  /** Counts announcements; the highest one of a policy is the latest version. */
  announced: number;
  created_at: number;
}

export interface CheckpointTable {
  run_id: string;
  step: number;
  path: string;
  policy_version: number;
  state: JsonText;
  created_at: number;
}

export interface ResourceTable {
  seq: Sequence;
  name: string;
  version: number;
  kind: Resource['kind'];
  content: JsonText;
  hash: string;
  /** As in {@link PolicyVersionTable}: the highest one of a name is its latest version. */
  announced: number;
  created_at: number;
}

export interface WorkerTable {
  seq: Sequence;
  id: string;
  state: WorkerState;
  info: JsonText;
  alive_until: number;
  heartbeat_at: number;
  registered_at: number;
}

export interface AnnotationTable {
  seq: Sequence;
  target_kind: AnnotationTarget['kind'];
  target_id: string;
  key: JsonText;
  value: JsonText;
  author: JsonText;
  created_at: number;
}

export interface ChangeTable {
  seq: Sequence;
  kind: ChangeKind;
  id: string;
  run_id: string | null;
  state: string | null;
  at: number;
}

export interface StoreSchema {
  runs: RunTable;
  tasks: TaskTable;
  rollouts: RolloutTable;
  attempts: AttemptTable;
  calls: CallTable;
  call_choices: CallChoiceTable;
  rewards: RewardTable;
  spans: SpanTable;
  policy_versions: PolicyVersionTable;
  checkpoints: CheckpointTable;
  resources: ResourceTable;
  workers: WorkerTable;
  annotations: AnnotationTable;
  changes: ChangeTable;
}
