import { z } from 'zod';
import {
  aggregations,
  automaticRules,
  corrections,
  creditRules,
  estimators,
  klEstimators,
  policyLosses,
  stateKinds,
} from '../../samples/index.ts';
import { commonOptions, count, fraction } from '../option-fields.ts';

const namesOf = <const Name extends string>(table: readonly { name: Name }[]): Name[] => table.map(({ name }) => name);

/** Which return each call of an attempt gets. */
const credit = z.strictObject({
  rule: z.enum(namesOf(creditRules)).default('identical'),
  discount: fraction.default(1),
  outcomeWeight: z.number().default(1),
  stepWeight: z.number().default(1),
  dimensions: z.record(z.string(), z.number()).default({}),
  state: z.enum(stateKinds).default('prompt'),
});

/** Faults that rules find in calls, beside the true reward. No rule: off. */
const automatic = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        rule: z.enum(namesOf(automaticRules)),
        weight: z.number().default(0.1),
        limit: count.default(256),
        buffer: z.int().min(0).default(64),
      }),
    )
    .default([]),
  discount: fraction.default(0),
  fadeSteps: z.int().min(0).default(0),
});

/** For samplers that compute other log probs than the trainer. */
const correction = z.strictObject({
  kind: z.enum(namesOf(corrections)).default('none'),
  cap: z.number().positive().default(2),
  floor: z.number().min(0).default(0.5),
});

/** Penalty for leaving the weights that the run began with; a coefficient of 0 is off. */
const kl = z.strictObject({
  coefficient: z.number().min(0).default(0),
  estimator: z.enum(klEstimators).default('k3'),
  in: z.enum(['loss', 'reward']).default('loss'),
});

/** Group-relative policy optimisation. What concerns sampling stands elsewhere: it must have temperature 1. */
export const grpoOptions = commonOptions.extend({
  /** Rollouts of one task, compared with each other. */
  groupSize: z.int().min(2).default(8),
  tasksPerStep: count.default(16),
  learningRate: z.number().min(0).default(1e-4),
  warmupSteps: z.int().min(0).default(0),
  schedule: z.enum(['constant', 'linear', 'cosine']).default('constant'),
  /** The ratio of new to old probability is cut to [1 − clipLow, 1 + clipHigh]. */
  clipLow: z.number().min(0).default(0.2),
  clipHigh: z.number().min(0).default(0.28),
  /** Times each step's rollouts are gone through. */
  epochs: count.default(1),
  /** Optimiser steps in an epoch. */
  minibatches: count.default(1),
  /** Instead: gather rollouts for an optimiser step until they have so many trained tokens; 0 is off. */
  minibatchTokens: z.int().min(0).default(0),
  /** Global L2 norm; 0 does not clip. */
  maxGradNorm: z.number().min(0).default(1),
  weightDecay: z.number().min(0).default(0),
  beta1: fraction.default(0.9),
  beta2: fraction.default(0.99),
  credit: credit.prefault({}),
  automatic: automatic.prefault({}),
  /** How a return is compared with others. */
  advantages: z.enum(namesOf(estimators)).default('grpo'),
  /** `grpo` alone: divide advantages by the group's standard deviation; false is Dr.GRPO's. */
  scaleByStd: z.boolean().default(true),
  /** Of the policy. */
  loss: z.enum(namesOf(policyLosses)).default('clipped'),
  /** Where a negative advantage stops counting, as a ratio above 1; 0 is off. */
  dualClip: z.union([z.literal(0), z.number().min(1)]).default(0),
  correction: correction.prefault({}),
  kl: kl.prefault({}),
  /** Coefficient of an entropy bonus; 0 is off. */
  entropy: z.number().min(0).default(0),
  /** How tokens share the weight of an optimiser step; each rollout counts once by default. */
  aggregation: z.enum(aggregations).default('rollout-mean'),
  /** Of `fixed-length`: tokens that a rollout's loss is divided by. */
  fixedLength: count.default(256),
});

export type GrpoOptions = z.output<typeof grpoOptions>;

export const grpoDefaults: GrpoOptions = grpoOptions.parse({});
