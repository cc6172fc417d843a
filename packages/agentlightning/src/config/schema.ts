import { exportForms, projections } from '@agentlightning/engine';
import { z } from 'zod';
import { algorithms } from '../algorithms/index.ts';
import { agent } from './agent.ts';
import { algorithm, algorithmsOf } from './algorithm.ts';
import { count, text } from './fields.ts';
import { grader } from './grader.ts';
import { models } from './models.ts';
import { prompts } from './prompts.ts';
import { retention } from './retention.ts';
import { server } from './server.ts';
import { stop } from './stop.ts';

/**
 * The shape of `agl.config.ts`. Every field is explained in docs/configuration.md, and a test holds that page to this file.
 * Objects are strict: an unknown key is a mistake, never ignored.
 */
const tasks = z.strictObject({
  train: text,
  validation: text.optional(),
  inputFields: z.array(text).min(1).optional(),
});

const policy = z
  .strictObject({
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
    memoryGiB: z.number().positive().optional(),
    backend: z.enum(['native', 'wasm']).optional(),
    export: z.array(z.enum(exportForms)).optional(),
  })
  .refine(({ adapter, export: forms = [] }) => adapter !== undefined || !forms.includes('adapter'), {
    path: ['export'],
    error: '"adapter" needs policy.adapter: without it all weights are trained, and there is no adapter to export',
  });

/** No temperature, top-p or top-k: the loss is of the distribution that was sampled from, so training samples from the policy as it is. */
const sampling = z.strictObject({ maxTokens: count.default(256) });

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
  keepBest: z.boolean().default(true),
  export: z.enum(['last', 'best']).default('last'),
});

export const configSchema = z
  .strictObject({
    name: text.optional(),
    agent,
    tasks,
    grader,
    policy: policy.optional(),
    models,
    prompts,
    sampling: sampling.prefault({}),
    algorithm: algorithm.prefault({}),
    validation: validation.prefault({}),
    checkpoints: checkpoints.prefault({}),
    stop,
    retries: z.strictObject({ maxAttempts: count.default(3) }).prefault({}),
    server: server.prefault({}),
    store: text.default('.agl/store.db'),
    retention,
    runs: text.optional(),
    seed: z.int().default(1),
  })
  .superRefine(({ policy, algorithm }, context) => {
    const trainWeights = algorithmsOf(algorithm).some((each) => !('module' in each || trainsPrompts(each.name)));
    if (policy !== undefined || !trainWeights) return;
    context.addIssue({ code: 'invalid_type', expected: 'object', path: ['policy'], input: undefined });
  });

/** Of a module of the user's own only its code can tell. */
const trainsPrompts = (name: string): boolean => algorithms.find((each) => each.name === name)?.trains === 'prompts';

/** The effective configuration: defaults filled in; after `loadConfig`, file paths are absolute. */
export type Config = z.output<typeof configSchema>;

/** What a person writes. */
export type ConfigInput = z.input<typeof configSchema>;
