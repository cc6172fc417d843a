import { projections } from '@agentlightning/engine';
import { z } from 'zod';
import {
  aggregations,
  corrections,
  creditRules,
  estimators,
  klEstimators,
  policyLosses,
  stateKinds,
} from '../samples/index.ts';
import { agent } from './agent.ts';
import { count, fraction, text } from './fields.ts';
import { grader } from './grader.ts';
import { models } from './models.ts';
import { prompts } from './prompts.ts';
import { server } from './server.ts';

/**
 * The shape of `agl.config.ts`. Every field is explained in docs/configuration.md, and a test holds that page to this file.
 * Objects are strict: an unknown key is a mistake, never ignored.
 */
const tasks = z.strictObject({
  train: text,
  validation: text.optional(),
  inputFields: z.array(text).min(1).optional(),
});

const policy = z.strictObject({
  name: text.default('policy'),
  model: text,
  adapter: z
    .strictObject({
      rank: count,
      alpha: z.number().positive(),
      targets: z.array(z.enum(projections)).min(1).default(projections),
    })
    .optional(),
  threads: count.optional(),
  backend: z.enum(['native', 'wasm']).optional(),
});

/** No temperature, top-p or top-k: the loss is of the distribution that was sampled from, so training samples from the policy as it is. */
const sampling = z.strictObject({ maxTokens: count.default(256) });

const namesOf = <const Name extends string>(table: readonly { name: Name }[]): Name[] => table.map(({ name }) => name);

const credit = z.strictObject({
  rule: z.enum(namesOf(creditRules)).default('identical'),
  discount: fraction.default(1),
  outcomeWeight: z.number().default(1),
  stepWeight: z.number().default(1),
  dimensions: z.record(z.string(), z.number()).default({}),
  state: z.enum(stateKinds).default('prompt'),
});

const correction = z.strictObject({
  kind: z.enum(namesOf(corrections)).default('none'),
  cap: z.number().positive().default(2),
  floor: z.number().min(0).default(0.5),
});

const kl = z.strictObject({
  coefficient: z.number().min(0).default(0),
  estimator: z.enum(klEstimators).default('k3'),
  in: z.enum(['loss', 'reward']).default('loss'),
});

const algorithm = z.strictObject({
  name: z.literal('grpo').default('grpo'),
  groupSize: z.int().min(2).default(8),
  tasksPerStep: count.default(16),
  steps: z.int().min(0).default(100),
  learningRate: z.number().min(0).default(1e-4),
  warmupSteps: z.int().min(0).default(0),
  schedule: z.enum(['constant', 'linear', 'cosine']).default('constant'),
  clipLow: z.number().min(0).default(0.2),
  clipHigh: z.number().min(0).default(0.28),
  epochs: count.default(1),
  minibatches: count.default(1),
  maxGradNorm: z.number().min(0).default(1),
  weightDecay: z.number().min(0).default(0),
  beta1: fraction.default(0.9),
  beta2: fraction.default(0.99),
  credit: credit.prefault({}),
  advantages: z.enum(namesOf(estimators)).default('grpo'),
  scaleByStd: z.boolean().default(true),
  loss: z.enum(namesOf(policyLosses)).default('clipped'),
  dualClip: z.union([z.literal(0), z.number().min(1)]).default(0),
  correction: correction.prefault({}),
  kl: kl.prefault({}),
  aggregation: z.enum(aggregations).default('rollout-mean'),
  fixedLength: count.default(256),
  successThreshold: z.number().default(1),
});

const validation = z.strictObject({
  every: z.int().min(0).default(0),
  tasks: count.optional(),
  temperature: z.number().min(0).default(1),
  rolloutsPerTask: count.default(1),
});

const checkpoints = z.strictObject({
  every: count.default(10),
  keep: count.default(3),
  folder: text.optional(),
});

export const configSchema = z.strictObject({
  name: text.optional(),
  agent,
  tasks,
  grader,
  policy,
  models,
  prompts,
  sampling: sampling.prefault({}),
  algorithm: algorithm.prefault({}),
  validation: validation.prefault({}),
  checkpoints: checkpoints.prefault({}),
  retries: z.strictObject({ maxAttempts: count.default(3) }).prefault({}),
  server: server.prefault({}),
  store: text.default('.agl/store.db'),
  runs: text.optional(),
  seed: z.int().default(1),
});

/** The effective configuration: defaults filled in; after `loadConfig`, file paths are absolute. */
export type Config = z.output<typeof configSchema>;

/** What a person writes. */
export type ConfigInput = z.input<typeof configSchema>;
