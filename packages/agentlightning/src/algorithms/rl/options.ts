import type {
  Aggregation,
  CorrectionName,
  CreditRuleName,
  CreditSettings,
  EstimatorName,
  KlEstimator,
  PolicyLossName,
} from '../../samples/index.ts';
import type { LearningRateOptions } from '../learning-rate.ts';

/** Group-relative policy optimisation. What concerns sampling stands elsewhere: it must have temperature 1. */
export interface GrpoOptions extends LearningRateOptions {
  /** Rollouts of one task, compared with each other. */
  groupSize: number;
  tasksPerStep: number;
  /** The ratio of new to old probability is cut to [1 − clipLow, 1 + clipHigh]. */
  clipLow: number;
  clipHigh: number;
  /** Times each step's rollouts are gone through. */
  epochs: number;
  /** Optimiser steps in an epoch. */
  minibatches: number;
  /** Global L2 norm; 0 does not clip. */
  maxGradNorm: number;
  weightDecay: number;
  beta1: number;
  beta2: number;
  /** Which return each call of an attempt gets. */
  credit: CreditSettings & { rule: CreditRuleName };
  /** How a return is compared with others. */
  advantages: EstimatorName;
  /** `grpo` alone: divide advantages by the group's standard deviation; false is Dr.GRPO's. */
  scaleByStd: boolean;
  /** A rollout succeeds when its reward reaches this. Reported, never trained on. */
  successThreshold: number;
  /** Of the policy. */
  loss: PolicyLossName;
  /** Where a negative advantage stops counting, as a ratio above 1; 0 is off. */
  dualClip: number;
  /** For samplers that compute other log probs than the trainer. */
  correction: { kind: CorrectionName; cap: number; floor: number };
  /** Penalty for leaving the weights that the run began with; a coefficient of 0 is off. */
  kl: { coefficient: number; estimator: KlEstimator; in: 'loss' | 'reward' };
  /** How tokens share the weight of an optimiser step; each rollout counts once by default. */
  aggregation: Aggregation;
  /** Of `fixed-length`: tokens that a rollout's loss is divided by. */
  fixedLength: number;
}

export const grpoDefaults: GrpoOptions = {
  groupSize: 8,
  tasksPerStep: 16,
  steps: 100,
  learningRate: 1e-4,
  warmupSteps: 0,
  schedule: 'constant',
  clipLow: 0.2,
  clipHigh: 0.28,
  epochs: 1,
  minibatches: 1,
  maxGradNorm: 1,
  weightDecay: 0,
  beta1: 0.9,
  beta2: 0.99,
  credit: { rule: 'identical', discount: 1, outcomeWeight: 1, stepWeight: 1, dimensions: {}, state: 'prompt' },
  advantages: 'grpo',
  scaleByStd: true,
  successThreshold: 1,
  loss: 'clipped',
  dualClip: 0,
  correction: { kind: 'none', cap: 2, floor: 0.5 },
  kl: { coefficient: 0, estimator: 'k3', in: 'loss' },
  aggregation: 'rollout-mean',
  fixedLength: 256,
};

/** What surrounds the updates: the same for every algorithm that trains in steps. */
export interface LoopOptions {
  /** Validate each so many steps, besides before the first and after the last; 0: only those two. */
  validateEvery: number;
  rolloutsPerValidationTask: number;
  checkpointEvery: number;
  /** Newest checkpoints that are kept; at least 1. */
  keepCheckpoints: number;
  /** Attempts of a rollout whose attempts are ended by infrastructure. */
  maxAttempts: number;
  /** A notice is given when log probs recorded at sampling and recomputed differ by more, nats. */
  mismatchTolerance: number;
}

export const loopDefaults: LoopOptions = {
  validateEvery: 0,
  rolloutsPerValidationTask: 1,
  checkpointEvery: 10,
  keepCheckpoints: 3,
  maxAttempts: 3,
  mismatchTolerance: 1e-4,
};
