import { z } from 'zod';
import * as things from './things.ts';

/** What queries ask for. Ranges of numbers are the store's to judge, so that every way to it says the same. */

const optional = <Schema extends z.ZodType>(schema: Schema) => z.exactOptional(schema);
const range = optional(
  z.strictObject({ from: optional(z.number()), to: optional(z.number()) }).describe('UTC ms, [from, to)'),
);

export const page = {
  limit: optional(z.number().meta({ minimum: 1, maximum: 1000, default: 100 })),
  after: optional(z.string().describe('`next` of the page before')),
  order: optional(z.enum(['oldest', 'newest'])),
};

const owner = {
  runId: optional(things.id),
  rolloutId: optional(things.id),
  attemptId: optional(things.id),
  taskId: optional(things.id),
  step: optional(z.number()),
};
const late = optional(z.boolean());
const nullableText = optional(z.string().nullable());

export const runs = z.strictObject({ states: optional(z.array(things.runState)), ...page });
export const tasks = z.strictObject(page);

const listedRollouts = {
  runId: optional(things.id),
  step: optional(z.number()),
  mode: optional(things.mode),
  states: optional(z.array(things.rolloutState)),
  includeSuperseded: optional(z.boolean()),
};
export const rolloutList = z.strictObject(listedRollouts);
export const rollouts = z.strictObject({
  ...listedRollouts,
  taskId: optional(things.id),
  groupId: optional(things.id),
  failureClass: optional(things.failureClass),
  failureCode: optional(z.string()),
  agentName: optional(z.string()),
  model: optional(z.string()),
  policy: optional(z.string()),
  createdAt: range,
  ...page,
});

export const attempts = z.strictObject({
  runId: optional(things.id),
  rolloutId: optional(things.id),
  workerId: optional(things.id),
  states: optional(z.array(things.attemptState)),
  ...page,
});

export const calls = z.strictObject({
  ...owner,
  model: optional(z.string()),
  dialect: optional(z.string()),
  agentName: nullableText,
  policy: nullableText,
  responseId: optional(z.string()),
  untrainable: optional(z.union([z.boolean(), things.untrainableReason])),
  late,
  startedAt: range,
  ...page,
});

export const spans = z.strictObject({
  ...owner,
  traceId: optional(z.string()),
  kind: optional(things.spanKind),
  status: optional(things.spanStatus),
  late,
  startedAt: range,
  ...page,
});

export const rewards = z.strictObject({
  ...owner,
  name: optional(z.string()),
  source: optional(things.rewardSource),
  agentName: nullableText,
  callId: nullableText,
  late,
  createdAt: range,
  ...page,
});

export const workers = z.strictObject({ states: optional(z.array(things.workerState)), ...page });
export const policyVersions = z.strictObject({ policy: optional(z.string()), runId: optional(things.id), ...page });
export const checkpoints = z.strictObject({ runId: things.id, ...page });
export const resources = z.strictObject({
  name: optional(z.string()),
  kind: optional(things.resourceKind),
  ...page,
});
export const annotations = z.strictObject({
  target: optional(things.annotationTarget),
  key: optional(z.string()),
  author: optional(z.string()),
  ...page,
});
