import { z } from 'zod';
import type { PruneReport, PruneRules } from '../retention.ts';
import type {
  Annotation,
  Attempt,
  AttemptOutcome,
  Call,
  CallSummary,
  Change,
  Checkpoint,
  Claim,
  Json,
  JsonObject,
  PolicyVersion,
  Resource,
  Reward,
  Rollout,
  Run,
  Span,
  Task,
  Worker,
} from '../types.ts';
import { logProbs, tokenIds } from './binary.ts';

/** The things of the store as they travel. Fields stand in the order in which the store gives them. */

const maxIdLength = 500;

export const id = z.string().min(1).max(maxIdLength);
export const text = z.string();
export const number = z.number();
/** What a database keeps as a whole number. */
export const whole = z.int();
const nullableText = z.string().nullable();
const nullableNumber = z.number().nullable();
const hex = (digits: number) =>
  z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`), `must be ${digits} lower-case hexadecimal digits`);

/** As it is, member by member: any copy would lose keys such as `__proto__`. */
export const json = z.custom<Json>((value) => value !== undefined).meta({ description: 'any JSON' });
export const jsonObject = z
  .custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .meta({ type: 'object', additionalProperties: true });

export const failureClass = z.enum(['agent', 'infrastructure']);
const failure = z.object({ class: failureClass, code: text, message: text });
const versions = z.record(z.string(), z.number());
const late = z.exactOptional(z.literal(true));

export const mode = z.enum(['train', 'validation']);
export const runState = z.enum(['running', 'finished', 'failed']);
export const rolloutState = z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']);
export const attemptState = z.enum(['running', 'succeeded', 'failed', 'cancelled']);
export const workerState = z.enum(['idle', 'busy', 'lost', 'gone']);
export const spanKind = z.enum(['unspecified', 'internal', 'server', 'client', 'producer', 'consumer', 'log']);
export const spanStatus = z.enum(['unset', 'ok', 'error']);
export const rewardSource = z.enum(['grader', 'agent', 'stdout']);
export const resourceKind = z.enum(['policy', 'model', 'prompt']);
export const untrainableReason = z.enum([
  'cancelled',
  'broken_stream',
  'missing_token_ids',
  'missing_log_probs',
  'length_mismatch',
  'upstream_error',
]);

export const run = z.object({
  id,
  config: jsonObject,
  state: runState,
  createdAt: number,
  endedAt: nullableNumber,
}) satisfies z.ZodType<Run>;

export const task = z.strictObject({ id, input: jsonObject, private: jsonObject }) satisfies z.ZodType<Task>;

export const rolloutRequest = z.strictObject({
  id,
  runId: id,
  taskId: id,
  groupId: id,
  mode,
  step: number,
  seed: number,
  maxAttempts: number,
  resources: z.exactOptional(versions),
});

export const rollout = z.object({
  ...rolloutRequest.shape,
  resources: versions,
  state: rolloutState,
  attempts: number,
  failure: failure.nullable(),
  superseded: z.boolean(),
  createdAt: number,
  endedAt: nullableNumber,
}) satisfies z.ZodType<Rollout>;

export const attempt = z.object({
  id,
  rolloutId: id,
  number,
  state: attemptState,
  failure: failure.nullable(),
  workerId: id,
  leaseUntil: number,
  resources: versions,
  output: nullableText,
  exitCode: nullableNumber,
  startedAt: number,
  endedAt: nullableNumber,
}) satisfies z.ZodType<Attempt>;

export const claim = z.object({ rollout, attempt, task }) satisfies z.ZodType<Claim>;
export const lease = z.strictObject({ attemptId: id, workerId: id });

export const outcome = z.strictObject({
  state: z.enum(['succeeded', 'failed', 'cancelled']),
  failure: z.exactOptional(failure),
  output: z.exactOptional(nullableText),
  exitCode: z.exactOptional(whole.nullable()),
}) satisfies z.ZodType<AttemptOutcome>;

export const newReward = z.strictObject({
  attemptId: id,
  name: text,
  value: nullableNumber.describe('null: known to be missing, which is not 0'),
  source: rewardSource,
  agentName: nullableText,
  callId: id.nullable(),
});

export const reward = z.object({ ...newReward.shape, createdAt: number, late }) satisfies z.ZodType<Reward>;

export const span = z.strictObject({
  attemptId: id,
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: nullableText,
  name: text,
  kind: spanKind,
  startedAt: number,
  endedAt: number,
  status: spanStatus,
  statusMessage: nullableText,
  attributes: jsonObject,
  events: z.array(z.object({ name: text, time: number, attributes: jsonObject })),
  links: z.array(z.object({ traceId: text, spanId: text, attributes: jsonObject })),
  resource: jsonObject,
  scope: nullableText,
  late,
}) satisfies z.ZodType<Span>;

export const reportedSpan = z.strictObject({
  span,
  rewards: z.array(newReward.pick({ name: true, value: true, agentName: true, callId: true })),
});

const choice = z.object({
  index: number,
  tokenIds,
  logProbs,
  finishReason: z.enum(['stop', 'length', 'tool_calls', 'cancelled', 'error']),
  text,
  policyVersions: z.array(z.object({ from: number, version: number })),
});

const sampling = z.object({
  temperature: number,
  topP: number,
  topK: number,
  maxTokens: number,
  stop: z.array(text),
  seed: nullableNumber,
});

/** Of a call and its summary, in that order. */
const callHead = {
  id,
  attemptId: id,
  rolloutId: id,
  sequence: whole,
  agentName: nullableText,
  model: text,
  policy: nullableText,
  dialect: text,
};
const callTail = {
  untrainable: untrainableReason.nullable(),
  error: nullableText,
  startedAt: number,
  latencyMs: number,
  timeToFirstTokenMs: nullableNumber,
};

export const call = z.strictObject({
  ...callHead,
  request: jsonObject,
  response: jsonObject.nullable(),
  promptIds: tokenIds.nullable(),
  choices: z.array(choice),
  sampling,
  overridden: jsonObject,
  ...callTail,
  late,
}) satisfies z.ZodType<Call>;

export const callSummary = z.object({
  ...callHead,
  ...callTail,
  runId: id,
  responseId: nullableText,
  promptTokens: nullableNumber,
  sampledTokens: number,
  late: z.boolean(),
}) satisfies z.ZodType<CallSummary>;

export const newPolicyVersion = z.strictObject({
  policy: text,
  version: whole,
  runId: id,
  step: whole,
  path: nullableText,
});
export const policyVersion = z.object({
  ...newPolicyVersion.shape,
  createdAt: number,
}) satisfies z.ZodType<PolicyVersion>;

const checkpointShape = { runId: id, step: whole, path: text, policyVersion: whole, state: jsonObject };
export const newCheckpoint = z.strictObject({ ...checkpointShape, policy: text });
export const checkpoint = z.object({ ...checkpointShape, createdAt: number }) satisfies z.ZodType<Checkpoint>;

export const newResource = z.strictObject({
  ...{ name: text, kind: resourceKind, content: jsonObject },
  draft: z.exactOptional(z.boolean()),
});
export const resource = z.object({
  ...{ name: text, version: number, kind: resourceKind, content: jsonObject, hash: text },
  createdAt: number,
}) satisfies z.ZodType<Resource>;

export const worker = z.object({
  id,
  state: workerState,
  info: jsonObject,
  running: number,
  aliveUntil: number,
  heartbeatAt: number,
  registeredAt: number,
}) satisfies z.ZodType<Worker>;

export const annotationTarget = z.strictObject({ kind: z.enum(['rollout', 'attempt', 'call']), id });
export const newAnnotation = z.strictObject({ target: annotationTarget, key: text, value: json, author: text });
export const annotation = z.object({ ...newAnnotation.shape, createdAt: number }) satisfies z.ZodType<Annotation>;

export const pruneRules = z.strictObject({
  olderThanMs: z.exactOptional(number.min(0)),
  keepRuns: z.exactOptional(whole),
  remove: z.enum(['calls', 'runs']),
}) satisfies z.ZodType<PruneRules>;
export const pruneReport = z.object({
  runs: number,
  calls: number,
  spans: number,
  rollouts: number,
  attempts: number,
  rewards: number,
  annotations: number,
  rewardsWithoutCall: number,
}) satisfies z.ZodType<PruneReport>;

export const change = z.object({
  seq: number,
  kind: z.enum([
    ...([
      'run',
      'rollout',
      'attempt',
      'call',
      'spans',
      'reward',
      'policy',
      'checkpoint',
      'resource',
      'worker',
    ] as const),
    'annotation',
  ]),
  id: text,
  runId: nullableText,
  state: nullableText,
  at: number,
}) satisfies z.ZodType<Change>;
