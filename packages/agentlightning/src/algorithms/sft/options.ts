import { z } from 'zod';
import { preferenceVariants } from '../../samples/index.ts';
import { commonOptions, count, fraction } from '../option-fields.ts';

const names = z.array(z.string().min(1)).min(1);

/** The optimiser, as for every algorithm that trains weights. */
const optimiser = {
  learningRate: z.number().min(0).default(1e-4),
  warmupSteps: z.int().min(0).default(0),
  schedule: z.enum(['constant', 'linear', 'cosine']).default('constant'),
  /** Global L2 norm; 0 does not clip. */
  maxGradNorm: z.number().min(0).default(1),
  weightDecay: z.number().min(0).default(0),
  beta1: fraction.default(0.9),
  beta2: fraction.default(0.99),
};

const imitation = {
  ...optimiser,
  /** Least reward of a rollout that is imitated. */
  minReward: z.number().default(1),
  /** Names of agents; without it all. */
  agents: names.optional(),
  /** Of equal rows the first alone. */
  deduplicate: z.boolean().default(true),
  /** Examples of an optimiser step. */
  batchSize: count.default(16),
  /** How tokens share the weight of an optimiser step: each token the same, or each row. */
  aggregation: z.enum(['token-mean', 'row-mean']).default('token-mean'),
};

/** Rollouts to collect in each step. */
const collection = {
  tasksPerStep: count.default(16),
  groupSize: z.int().min(2).default(8),
};

/** Supervised fine-tuning on what earlier runs recorded. A step is an optimiser step. */
export const sftOptions = commonOptions.extend({
  ...imitation,
  /** Ids of runs in the same store; without it all but this one. */
  runs: names.optional(),
  /** Policies and frozen models whose answers are imitated; without it all. */
  models: names.optional(),
  /** Best of n: so many rollouts of each group; without it all that reach `minReward`. */
  bestPerGroup: count.optional(),
  /** Passes over the examples; `steps` may end it earlier. */
  epochs: count.default(3),
  /** Share of the tasks whose examples are never trained on: their loss is reported. */
  holdOut: z.number().min(0).max(0.9).default(0.1),
});

/** Rejection sampling, again and again. A step is a round: rollouts, the best of them imitated. */
export const expertIterationOptions = commonOptions.extend({
  ...imitation,
  ...collection,
  bestPerGroup: count.default(1),
  /** Passes over a round's examples. */
  epochs: count.default(1),
  /** Imitate the examples of earlier rounds too. */
  accumulate: z.boolean().default(false),
  /** Train each round from the weights that the run began with, as ReST-EM and STaR do. */
  restart: z.boolean().default(false),
});

/** Direct preference optimisation: the best of a group against its worst. */
export const dpoOptions = commonOptions.extend({
  ...optimiser,
  ...collection,
  agents: names.optional(),
  /** Learn from these earlier runs, and collect nothing. */
  runs: names.optional(),
  /** Pairs of an optimiser step. */
  batchSize: count.default(16),
  /** Passes over the pairs of a step; with `runs`, over all pairs. */
  epochs: count.default(1),
  pairsPerGroup: count.default(1),
  /** Least difference of rewards in a pair. */
  minMargin: z.number().positive().default(1e-6),
  variant: z.enum(preferenceVariants).default('sigmoid'),
  beta: z.number().positive().default(0.1),
  labelSmoothing: z.number().min(0).max(0.5).default(0),
  /** Weight of the chosen answer's cross entropy beside the preference. */
  imitation: z.number().min(0).default(0),
});

export type SftOptions = z.output<typeof sftOptions>;
export type ExpertIterationOptions = z.output<typeof expertIterationOptions>;
export type DpoOptions = z.output<typeof dpoOptions>;
export type ImitationOptions = Pick<SftOptions, keyof typeof imitation>;
export type OptimiserOptions = Pick<SftOptions, keyof typeof optimiser>;
