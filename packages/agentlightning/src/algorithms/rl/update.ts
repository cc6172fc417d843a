import type { Engine } from '../../engines/engine.ts';
import { type Sample, trainRows } from '../../samples/index.ts';
import { assertFinite } from '../finite.ts';
import { learningRateAt } from '../learning-rate.ts';
import { seedFor, shuffled } from '../random.ts';
import { chooseObjective } from './objective.ts';
import type { GrpoOptions } from './options.ts';

export interface UpdateInput {
  engine: Engine;
  samples: readonly Sample[];
  options: GrpoOptions;
  seed: number;
  step: number;
  /** Folder with the state that the run began with; only a KL penalty needs it. */
  reference: string;
}

export interface UpdateReport {
  /** Means over the optimiser steps. */
  loss: number;
  gradNorm: number;
  /** Share of trained tokens, over all optimiser steps, whose gradient the clip took away. */
  clipFraction: number;
  learningRate: number;
  /** |recorded − recomputed log prob|, nats, over the tokens of the first mini-batch: before it, no weight has moved. */
  mismatch: { max: number; mean: number };
}

/** One step of the algorithm: several epochs of mini-batches, each an optimiser step on the objective of the options. */
export async function updatePolicy(input: UpdateInput): Promise<UpdateReport> {
  const { engine, options, seed, step } = input;
  const learningRate = learningRateAt(options, step);
  const { objective, samples } = await chooseObjective(input);
  const losses: number[] = [];
  const gradNorms: number[] = [];
  let mismatch: UpdateReport['mismatch'] | null = null;
  let clippedTokens = 0;
  let tokens = 0;

  for (let epoch = 0; epoch < options.epochs; epoch += 1) {
    for (const batch of minibatches(samples, options, seedFor(seed, 'minibatches', step, epoch))) {
      const rows = trainRows(batch, options.aggregation, options.fixedLength);
      const result = await objective(rows, batch);
      assertFinite('loss', result.loss, step);
      mismatch ??= compare(batch, result.logProbs);
      clippedTokens += result.clippedTokens;
      tokens += batch.reduce((sum, { trainedTokens }) => sum + trainedTokens, 0);

      const { beta1, beta2, weightDecay, maxGradNorm } = options;
      const { gradNorm } = await engine.optimStep({ learningRate, beta1, beta2, weightDecay, maxGradNorm });
      assertFinite('gradient norm', gradNorm, step);
      losses.push(result.loss);
      gradNorms.push(gradNorm);
    }
  }
  return {
    loss: mean(losses),
    gradNorm: mean(gradNorms),
    clipFraction: clippedTokens / tokens,
    learningRate,
    mismatch: mismatch ?? { max: 0, mean: 0 },
  };
}

/** Rows of a rollout stay together, because they share its weight. Fewer rollouts than mini-batches make fewer of these. */
export function minibatches(
  samples: readonly Sample[],
  { minibatches: count, minibatchTokens }: Pick<GrpoOptions, 'minibatches' | 'minibatchTokens'>,
  seed: number,
): Sample[][] {
  const byRollout = new Map<string, Sample[]>();
  for (const sample of samples) byRollout.set(sample.rolloutId, [...(byRollout.get(sample.rolloutId) ?? []), sample]);
  const rollouts = shuffled([...byRollout.values()], seed);
  if (minibatchTokens > 0) return batchesByTokens(rollouts, minibatchTokens);
  const batches = Math.min(count, rollouts.length);
  return Array.from({ length: batches }, (_, at) =>
    rollouts
      .slice(Math.floor((at * rollouts.length) / batches), Math.floor(((at + 1) * rollouts.length) / batches))
      .flat(),
  );
}

/** Each batch is closed by the rollout that brings it to `limit` trained tokens; the last one may have fewer. */
function batchesByTokens(rollouts: readonly Sample[][], limit: number): Sample[][] {
  const batches: Sample[][] = [];
  let tokens = limit;
  for (const rows of rollouts) {
    if (tokens >= limit) {
      batches.push([]);
      tokens = 0;
    }
    batches.at(-1)!.push(...rows);
    tokens += rows.reduce((sum, { trainedTokens }) => sum + trainedTokens, 0);
  }
  return batches;
}

function compare(batch: readonly Sample[], logProbs: readonly Float32Array[]): { max: number; mean: number } {
  let max = 0;
  let sum = 0;
  let count = 0;
  for (const [at, sample] of batch.entries()) {
    for (const [token, trained] of sample.mask.entries()) {
      if (!trained) continue;
      const difference = Math.abs(sample.logProbs[token]! - logProbs[at]![token]!);
      max = Math.max(max, difference);
      sum += difference;
      count += 1;
    }
  }
  return { max, mean: sum / count };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
