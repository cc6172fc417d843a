import type { TrainRow } from '../engines/engine.ts';
import type { Sample } from './samples.ts';

/**
 * How the tokens of a batch share a total weight of 1.
 * - `rollout-mean`: each of the N rollouts in the batch has 1/N, spread evenly over the tokens that are trained on in
 *   all its rows: w = 1 / (N · T_rollout). However many calls or chains an agent made, it counts once. With one call a
 *   rollout this is the 1/G Σ 1/|o| Σ of GRPO (arXiv 2402.03300, eq. 3).
 * - `token-mean`: w = 1 / ΣT, as in DAPO (arXiv 2503.14476, eq. 8): long rollouts count for more.
 */
export type Aggregation = 'rollout-mean' | 'token-mean';

type Sized = Pick<Sample, 'rolloutId' | 'trainedTokens'>;

/** Weight of each trained token, one number a row, float64. */
export function tokenWeights(rows: readonly Sized[], aggregation: Aggregation): number[] {
  const perRollout = new Map<string, number>();
  let total = 0;
  for (const { rolloutId, trainedTokens } of rows) {
    perRollout.set(rolloutId, (perRollout.get(rolloutId) ?? 0) + trainedTokens);
    total += trainedTokens;
  }
  return rows.map(({ rolloutId }) =>
    aggregation === 'token-mean' ? 1 / total : 1 / (perRollout.size * perRollout.get(rolloutId)!),
  );
}

/** Rows for the engine from the samples of one optimiser step, so that a summed loss is the mean that `aggregation` names. */
export function trainRows(samples: readonly Sample[], aggregation: Aggregation): TrainRow[] {
  const weights = tokenWeights(samples, aggregation);
  return samples.map(({ tokenIds, mask, advantages, logProbs }, at) => ({
    tokenIds,
    weights: Float32Array.from(mask, (trained) => (trained ? weights[at]! : 0)),
    advantages,
    logProbs,
  }));
}
