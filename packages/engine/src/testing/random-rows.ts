import type { TrainRow } from '../contract.ts';
import { seededUniform } from '../model/random.ts';

interface RowOptions {
  /** Tokens of each row. */
  lengths: readonly number[];
  vocabularySize: number;
  /** Uniform numbers in [0, 1). */
  random: () => number;
  /** Log probs under the current weights, by row; behaviour log probs are scattered around them, so that some ratios clip. */
  currentLogProbs?: readonly ArrayLike<number>[];
}

/** Training rows of random tokens, weights and advantages of both signs; about a quarter of the tokens is masked. */
export function randomRows(options: RowOptions): Required<TrainRow>[] {
  const { random, vocabularySize, currentLogProbs } = options;
  return options.lengths.map((length, row) => {
    const column = (value: (token: number) => number) =>
      Float32Array.from({ length }, (_, token) => (token === 0 ? 0 : value(token)));
    const slopes = seededUniform(100 + row); // of its own, so that other columns do not depend on it
    return {
      tokenIds: Int32Array.from({ length }, () => Math.floor(random() * vocabularySize)),
      weights: column(() => (random() < 0.25 ? 0 : random())),
      advantages: column(() => 2 * random() - 1),
      logProbs: column((token) => (currentLogProbs?.[row]?.[token] ?? -4) + random() - 0.5),
      valueSlopes: column(() => 2 * slopes() - 1),
    };
  });
}
