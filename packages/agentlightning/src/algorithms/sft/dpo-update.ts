import type { Engine } from '../../engines/engine.ts';
import { preferenceLoss } from '../../samples/index.ts';
import { assertFinite } from '../finite.ts';
import { forwardRow } from '../rl/reference.ts';
import type { Example } from './examples.ts';
import { type Learned, optimise } from './imitate.ts';
import type { DpoOptions } from './options.ts';
import type { Pair } from './preferences.ts';

export interface PreferenceLearned extends Learned {
  /** Share of pairs whose chosen answer has the higher implied reward. */
  accuracy: number;
  /** Mean difference of implied rewards, β · nats. */
  margin: number;
}

/**
 * One optimiser step on a batch of pairs, on any engine: log probs of both sides, the loss's slopes in closed form, and
 * these as coefficients of a cross entropy (docs/algorithms.md, coefficient injection).
 */
export async function preferenceStep(
  engine: Engine,
  pairs: readonly Pair<Example>[],
  reference: ReadonlyMap<Example, Float32Array>,
  options: DpoOptions,
  at: { step: number; learningRate: number },
): Promise<PreferenceLearned> {
  const rows = pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]);
  const logProbs = await engine.forward(rows.map(forwardRow));
  const side = (row: Example, index: number) => ({
    logProbs: logProbs[index]!,
    referenceLogProbs: reference.get(row)!,
    mask: row.mask,
  });
  const totals = { loss: 0, accuracy: 0, margin: 0 };
  const injected = pairs.flatMap(({ chosen, rejected }, index) => {
    const sides = { chosen: side(chosen, 2 * index), rejected: side(rejected, 2 * index + 1) };
    const { loss, slopes, rewards } = preferenceLoss(sides, options);
    const margin = rewards.chosen - rewards.rejected;
    totals.loss += loss / pairs.length;
    totals.margin += margin / pairs.length;
    totals.accuracy += (margin > 0 ? 1 : 0) / pairs.length;
    return [
      { tokenIds: chosen.tokenIds, weights: Float32Array.from(slopes.chosen, (slope) => -slope / pairs.length) },
      { tokenIds: rejected.tokenIds, weights: Float32Array.from(slopes.rejected, (slope) => -slope / pairs.length) },
    ];
  });
  assertFinite('loss', totals.loss, at.step);
  await engine.forwardBackward(injected, { name: 'cross_entropy' });
  return { ...totals, gradNorm: await optimise(engine, options, at) };
}
