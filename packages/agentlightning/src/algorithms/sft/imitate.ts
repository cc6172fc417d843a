import type { Engine, TrainRow } from '../../engines/engine.ts';
import { assertFinite } from '../finite.ts';
import type { Example } from './examples.ts';
import type { ImitationOptions, OptimiserOptions } from './options.ts';

/** Rows for the engine whose summed cross entropy is the mean that `aggregation` names. */
export function imitationRows(examples: readonly Example[], aggregation: ImitationOptions['aggregation']): TrainRow[] {
  const all = examples.reduce((sum, { trainedTokens }) => sum + trainedTokens, 0);
  return examples.map(({ tokenIds, mask, trainedTokens }) => {
    const weight = aggregation === 'token-mean' ? 1 / all : 1 / (examples.length * trainedTokens);
    return { tokenIds, weights: Float32Array.from(mask, (trained) => trained * weight) };
  });
}

export interface Learned {
  /** Mean cross entropy of the batch before the step, nats. */
  loss: number;
  gradNorm: number;
}

/** One optimiser step on the cross entropy of the examples' answers. */
export async function imitate(
  engine: Engine,
  examples: readonly Example[],
  { aggregation, ...options }: ImitationOptions,
  { step, learningRate }: { step: number; learningRate: number },
): Promise<Learned> {
  const { loss } = await engine.forwardBackward(imitationRows(examples, aggregation), { name: 'cross_entropy' });
  assertFinite('loss', loss, step);
  return { loss, gradNorm: await optimise(engine, options, { step, learningRate }) };
}

/** Applies the gradients. @returns their norm */
export async function optimise(
  engine: Engine,
  { beta1, beta2, weightDecay, maxGradNorm }: OptimiserOptions,
  { step, learningRate }: { step: number; learningRate: number },
): Promise<number> {
  const { gradNorm } = await engine.optimStep({ learningRate, beta1, beta2, weightDecay, maxGradNorm });
  assertFinite('gradient norm', gradNorm, step);
  return gradNorm;
}

/** Mean cross entropy a token under the present weights, nats. */
export async function meanLoss(engine: Engine, examples: readonly Example[]): Promise<number> {
  const logProbs = await engine.forward(imitationRows(examples, 'token-mean'));
  let sum = 0;
  let tokens = 0;
  for (const [row, { mask, trainedTokens }] of examples.entries()) {
    for (const [at, trained] of mask.entries()) if (trained === 1) sum -= logProbs[row]![at]!;
    tokens += trainedTokens;
  }
  return sum / tokens;
}
