import { rm } from 'node:fs/promises';
import type { Engine, TrainRow } from '../../engines/engine.ts';
import { klReturns, type Sample } from '../../samples/index.ts';
import type { GrpoOptions } from './options.ts';

type Masked = Pick<Sample, 'tokenIds' | 'mask'>;

export const forwardRow = ({ tokenIds, mask }: Masked): TrainRow => ({ tokenIds, weights: Float32Array.from(mask) });

/**
 * Log probs under the reference: the weights that the run began with, kept in `folder`. An engine holds one set of
 * weights, so the current ones make room and come back bit-equal, as from a checkpoint.
 */
export async function referenceLogProbs<Row extends Masked>(
  engine: Engine,
  samples: readonly Row[],
  folder: string,
): Promise<Map<Row, Float32Array>> {
  const current = `${folder}-current`;
  await engine.saveState(current);
  try {
    await engine.loadState(folder);
    const logProbs = await engine.forward(samples.map(forwardRow));
    return new Map(samples.map((sample, at) => [sample, logProbs[at]!]));
  } finally {
    await engine.loadState(current);
    await rm(current, { recursive: true, force: true });
  }
}

/** KL as part of the reward: takes from each advantage the penalty of its token and those after it in the row. */
export function penalised(
  samples: readonly Sample[],
  reference: ReadonlyMap<Sample, Float32Array>,
  { coefficient, estimator }: GrpoOptions['kl'],
): Sample[] {
  return samples.map((sample) => {
    const { logProbs, mask, advantages } = sample;
    const row = { logProbs, referenceLogProbs: reference.get(sample)!, weights: mask };
    const penalties = klReturns(row, estimator, coefficient);
    return { ...sample, advantages: advantages.map((advantage, token) => advantage - penalties[token]!) };
  });
}
