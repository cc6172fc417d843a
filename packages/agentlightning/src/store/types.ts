/** The words of the system (design §2) as data. Times are UTC milliseconds, log probs are nats, ids are time-ordered strings. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** One input of a data set. The agent sees `input` alone; `private` is for the grader. */
export interface Task {
  id: string;
  input: JsonObject;
  private: JsonObject;
}

export type RolloutMode = 'train' | 'validation';
export type RolloutState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
export type WorkerState = 'idle' | 'busy' | 'lost' | 'gone';
export type AttemptState = 'running' | 'succeeded' | 'failed' | 'cancelled';
/** Design §4. `agent`: trained on with its reward. `infrastructure`: retried, then masked; never a reward of 0. */
export type FailureClass = 'agent' | 'infrastructure';

export interface Failure {
  class: FailureClass;
  /** Stable code, for instance `exit_code`, `run_timeout`, `grader_crash`, `worker_lost`. */
  code: string;
  message: string;
}

export interface RolloutRequest {
  /** Chosen by the caller, so that enqueueing the same rollout twice is one rollout. */
  id: string;
  runId: string;
  taskId: string;
  /** The rollouts of one task under one policy version, compared with each other. */
  groupId: string;
  mode: RolloutMode;
  /** The step of the algorithm that asked for it; 0 is before the first update. */
  step: number;
  /** Seeds the sampling of this rollout's calls. */
  seed: number;
  maxAttempts: number;
  /** Resource versions that it must run with. Each attempt takes the latest ones of all other names. */
  resources?: ResourceVersions;
}

export interface Rollout extends RolloutRequest {
  resources: ResourceVersions;
  state: RolloutState;
  /** Attempts made so far. */
  attempts: number;
  failure: Failure | null;
  /** Set when a resumed run replaced this rollout: kept, never counted. */
  superseded: boolean;
  createdAt: number;
  endedAt: number | null;
}

export interface Attempt {
  id: string;
  rolloutId: string;
  /** 1 for the first attempt of a rollout. */
  number: number;
  state: AttemptState;
  failure: Failure | null;
  workerId: string;
  leaseUntil: number;
  /** What it runs with: fixed when it was claimed. */
  resources: ResourceVersions;
  /** What the agent handed in: return value of a module, last line of standard output of a process. */
  output: string | null;
  exitCode: number | null;
  startedAt: number;
  endedAt: number | null;
}

/** A rollout taken for execution: everything a runner needs, and a new attempt that fences out earlier ones. */
export interface Claim {
  rollout: Rollout;
  attempt: Attempt;
  task: Task;
}

/** Who may prolong and end an attempt: the worker that claimed it, and no other. */
export interface Lease {
  attemptId: string;
  workerId: string;
}

export interface AttemptOutcome {
  state: 'succeeded' | 'failed' | 'cancelled';
  failure?: Failure;
  output?: string | null;
  exitCode?: number | null;
}

/** `null` is a missing value and never 0. */
export interface Reward {
  attemptId: string;
  name: string;
  value: number | null;
  source: 'grader' | 'agent' | 'stdout';
  /** The agent or call it belongs to, when narrower than the attempt. */
  agentName: string | null;
  callId: string | null;
  createdAt: number;
  /** See {@link Call.late}. */
  late?: true;
}

/** A point in time within a span. */
export interface SpanEvent {
  name: string;
  /** May have a fraction: spans count nanoseconds. */
  time: number;
  attributes: JsonObject;
}

/** One OpenTelemetry span of an attempt, or a log record, which is kept as a span of kind `log` without duration. */
export interface Span {
  attemptId: string;
  /** 32 lower-case hexadecimal digits. */
  traceId: string;
  /** 16 lower-case hexadecimal digits. */
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: 'unspecified' | 'internal' | 'server' | 'client' | 'producer' | 'consumer' | 'log';
  startedAt: number;
  endedAt: number;
  status: 'unset' | 'ok' | 'error';
  statusMessage: string | null;
  attributes: JsonObject;
  events: SpanEvent[];
  links: { traceId: string; spanId: string; attributes: JsonObject }[];
  resource: JsonObject;
  /** Name of the instrumentation that made it. */
  scope: string | null;
  /** See {@link Call.late}. */
  late?: true;
}

/** A span with the rewards that it reports. */
export interface ReportedSpan {
  span: Span;
  rewards: Pick<Reward, 'name' | 'value' | 'agentName' | 'callId'>[];
}

export interface SamplingParameters {
  temperature: number;
  topP: number;
  /** 0 keeps all tokens. */
  topK: number;
  maxTokens: number;
  stop: string[];
  seed: number | null;
}

/** Why a call cannot be trained on. Set when it was recorded; further reasons arise later, in `samples/`. */
export type UntrainableReason =
  | 'cancelled'
  | 'broken_stream'
  | 'missing_token_ids'
  | 'missing_log_probs'
  | 'length_mismatch'
  | 'upstream_error';

export interface CallChoice {
  index: number;
  /** Sampled ids, including the end token when it was sampled. */
  tokenIds: Int32Array;
  /** Natural-log probs of `tokenIds` under the sampling distribution; same length. */
  logProbs: Float32Array;
  finishReason: 'stop' | 'length' | 'tool_calls' | 'cancelled' | 'error';
  /** The answer's text as the client got it, before tool calls were cut out. */
  text: string;
  /** First token index and version, in order; one entry unless the weights changed within the answer. */
  policyVersions: { from: number; version: number }[];
}

/** One LLM request and its answer (design §5). */
export interface Call {
  id: string;
  attemptId: string;
  rolloutId: string;
  /** Position among the attempt's calls by time of request, from 0. */
  sequence: number;
  agentName: string | null;
  /** The route's model alias. */
  model: string;
  /** Name of the policy that answered, null for frozen models. */
  policy: string | null;
  dialect: string;
  request: JsonObject;
  response: JsonObject | null;
  promptIds: Int32Array | null;
  choices: CallChoice[];
  sampling: SamplingParameters;
  /** What the gateway changed: field → value the client had sent. */
  overridden: JsonObject;
  untrainable: UntrainableReason | null;
  error: string | null;
  startedAt: number;
  latencyMs: number;
  timeToFirstTokenMs: number | null;
  /** Set by the store: it came after its attempt had been fenced. Kept to look at, never counted. */
  late?: true;
}

/** A call without its texts and tokens, for lists. {@link Call} has the rest. */
export interface CallSummary
  extends Omit<Call, 'request' | 'response' | 'promptIds' | 'choices' | 'sampling' | 'overridden' | 'late'> {
  runId: string;
  /** The id that the answer bears, by which spans name it. */
  responseId: string | null;
  /** Null when the upstream gave no token ids. */
  promptTokens: number | null;
  sampledTokens: number;
  late: boolean;
}

/** Resource name → version. */
export type ResourceVersions = { [name: string]: number };

/** A named, versioned thing that an attempt runs with. Versions of a name count from 1. */
export interface Resource {
  name: string;
  version: number;
  kind: 'policy' | 'model' | 'prompt';
  content: JsonObject;
  /** SHA-256 of kind and content with sorted keys, hexadecimal. */
  hash: string;
  /** When this content was first added. */
  createdAt: number;
}

/** What is given to add a version. */
export interface NewResource extends Pick<Resource, 'name' | 'kind' | 'content'> {
  /** True: something to be tried. It can be pinned, and it does not become the latest one that others take. */
  draft?: boolean;
}

/** Whoever claims rollouts. */
export interface Worker {
  id: string;
  state: WorkerState;
  /** What it says about itself: host, process id, runner, … */
  info: JsonObject;
  /** Attempts that it holds a lease of. */
  running: number;
  /** Without a sign of life until then it is lost. */
  aliveUntil: number;
  heartbeatAt: number;
  registeredAt: number;
}

export interface AnnotationTarget {
  kind: 'rollout' | 'attempt' | 'call';
  id: string;
}

/** A note of a person or a program. Notes are added and never overwritten; of one key the last one holds. */
export interface Annotation {
  target: AnnotationTarget;
  key: string;
  value: Json;
  author: string;
  createdAt: number;
}

export type ChangeKind =
  | 'run'
  | 'rollout'
  | 'attempt'
  | 'call'
  | 'spans'
  | 'reward'
  | 'policy'
  | 'checkpoint'
  | 'resource'
  | 'worker'
  | 'annotation';

/** Something was committed. Small on purpose: whoever needs the thing itself reads it. */
export interface Change {
  /** Grows by each change of the store; gaps are possible. */
  seq: number;
  kind: ChangeKind;
  /** Of the thing that changed; of the attempt for `spans` and `reward`; of the target for `annotation`. */
  id: string;
  /** Null for what belongs to no run. */
  runId: string | null;
  /** The state after the change, of things that have one. */
  state: string | null;
  at: number;
}

export interface PolicyVersion {
  policy: string;
  version: number;
  runId: string;
  step: number;
  /** Folder of the checkpoint when these weights were saved, else null. */
  path: string | null;
  createdAt: number;
}

/** What `agl resume` needs; written after each checkpoint, in the same transaction as its policy version. */
export interface Checkpoint {
  runId: string;
  step: number;
  path: string;
  policyVersion: number;
  /** State of the loop beside the engine: data order, random state, metrics so far. */
  state: JsonObject;
  createdAt: number;
}

export interface Run {
  id: string;
  /** Effective configuration, with file paths made absolute. */
  config: JsonObject;
  state: 'running' | 'finished' | 'failed';
  createdAt: number;
  endedAt: number | null;
}
