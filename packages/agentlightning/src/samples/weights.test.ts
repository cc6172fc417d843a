import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sample } from './samples.ts';
import { trainRows } from './weights.ts';

const sampleOf = (rolloutId: string, mask: number[]): Sample => ({
  rolloutId,
  groupId: 'group',
  attemptId: `${rolloutId}/1`,
  agentName: null,
  callIds: [],
  tokenIds: Int32Array.from(mask, (_, at) => at),
  mask: Uint8Array.from(mask),
  logProbs: new Float32Array(mask.length),
  advantages: new Float32Array(mask.length),
  trainedTokens: mask.filter(Boolean).length,
});
const weights = (samples: Sample[], aggregation: 'rollout-mean' | 'token-mean') =>
  trainRows(samples, aggregation).map((row) => [...row.weights]);

const short = sampleOf('short', [0, 1]);
const long = [sampleOf('long', [0, 1, 1, 0, 1]), sampleOf('long', [0, 0, 1])];

describe('trainRows', () => {
  it('gives each rollout the same weight, spread over all tokens of all its rows', () => {
    expect(weights([short, ...long], 'rollout-mean')).toEqual([
      [0, 1 / 2],
      [0, 1 / 8, 1 / 8, 0, 1 / 8],
      [0, 0, 1 / 8],
    ]);
  });

  it('gives each token the same weight when asked to', () => {
    expect(
      weights([short, ...long], 'token-mean')
        .flat()
        .filter(Boolean),
    ).toEqual(Array.from({ length: 5 }, () => Math.fround(1 / 5)));
  });

  it('weighs 1 in all, however the tokens of a rollout are cut into rows', () => {
    const mask = fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 6 }).map((rest) => [0, 1, ...rest]);
    const rows = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), mask), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(rows, fc.constantFrom('rollout-mean' as const, 'token-mean' as const), (drawn, aggregation) => {
        const samples = drawn.map(([rollout, mask]) => sampleOf(rollout, mask));
        const total = new Map<string, number>();
        for (const [at, row] of weights(samples, aggregation).entries()) {
          const { rolloutId } = samples[at]!;
          total.set(
            rolloutId,
            row.reduce((sum, weight) => sum + weight, total.get(rolloutId) ?? 0),
          );
        }
        const sums = [...total.values()];
        expect(sums.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 5);
        if (aggregation === 'rollout-mean') for (const value of sums) expect(value).toBeCloseTo(1 / total.size, 5);
      }),
    );
  });
});
