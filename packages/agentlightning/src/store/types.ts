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
}

export interface Rollout extends RolloutRequest {
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
