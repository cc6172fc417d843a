import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import vectors from '../../../vectors/grpo.json' with { type: 'json' };
import { tokenWeights } from '../weights.ts';
import { clippedSurrogate } from './clipped-surrogate.ts';

const sum = (values: ArrayLike<number>) => Array.from(values).reduce((total, value) => total + value, 0);
const clip = { low: 0.2, high: 0.28 };

describe('clippedSurrogate', () => {
  it.each(vectors.surrogate)('equals the paper’s objective and its derivative: $name', (vector) => {
    const rows = vector.rollouts.flatMap(({ advantage, rows }, at) =>
      rows.map((row) => ({
        ...row,
        advantage,
        rolloutId: `${at}`,
        groupId: 'group',
        trainedTokens: row.logProbs.length,
      })),
    );
    const weights = tokenWeights(rows, 'rollout-mean');
    const losses = rows.map(({ logProbs, behaviourLogProbs, advantage }, at) =>
      clippedSurrogate(
        {
          logProbs,
          behaviourLogProbs,
          advantages: logProbs.map(() => advantage),
          weights: logProbs.map(() => weights[at]!),
        },
        { low: vector.clipLow, high: vector.clipHigh },
      ),
    );
    expect(Math.abs(sum(losses.map(({ loss }) => sum(loss))) - vector.loss)).toBeLessThan(1e-9);
    for (const [at, slopes] of vector.slopes.entries()) {
      for (const [token, slope] of slopes.entries()) {
        expect(Math.abs(losses[at]!.slope[token]! - slope)).toBeLessThan(1e-9);
      }
    }
  });

  const token = fc.record({
    logProb: fc.double({ min: -4, max: -0.01, noNaN: true }),
    shift: fc.double({ min: -1, max: 1, noNaN: true }),
    advantage: fc.double({ min: -3, max: 3, noNaN: true }),
    weight: fc.double({ min: 0, max: 2, noNaN: true }),
  });
  const rowOf = (tokens: { logProb: number; shift: number; advantage: number; weight: number }[]) => ({
    logProbs: tokens.map(({ logProb }) => logProb),
    behaviourLogProbs: tokens.map(({ logProb, shift }) => logProb - shift),
    advantages: tokens.map(({ advantage }) => advantage),
    weights: tokens.map(({ weight }) => weight),
  });

  it('has the slope that central differences give', () => {
    const step = 1e-6;
    const nearCorner = (shift: number) =>
      Math.min(Math.abs(Math.exp(shift) - 1 + clip.low), Math.abs(Math.exp(shift) - 1 - clip.high)) < 1e-4;
    fc.assert(
      fc.property(fc.array(token, { minLength: 1, maxLength: 4 }), (tokens) => {
        fc.pre(!tokens.some(({ shift }) => nearCorner(shift)));
        const row = rowOf(tokens);
        const { slope } = clippedSurrogate(row, clip);
        for (const at of tokens.keys()) {
          const at_ = (offset: number) => ({
            ...row,
            logProbs: row.logProbs.map((logProb, other) => (other === at ? logProb + offset : logProb)),
          });
          const rise = sum(clippedSurrogate(at_(step), clip).loss) - sum(clippedSurrogate(at_(-step), clip).loss);
          expect(Math.abs(rise / (2 * step) - slope[at]!)).toBeLessThan(1e-6);
        }
      }),
    );
  });

  it('moves nothing without advantage or weight, and says which tokens are cut', () => {
    const still = { logProb: -1, shift: 1, advantage: 0, weight: 1 };
    const masked = { logProb: -1, shift: 1, advantage: 2, weight: 0 };
    const cut = { logProb: -1, shift: 1, advantage: 2, weight: 1 };
    const free = { logProb: -1, shift: 1, advantage: -2, weight: 1 };
    const { slope, clipped } = clippedSurrogate(rowOf([still, masked, cut, free]), clip);
    expect(Array.from(slope).map(Math.abs)).toEqual([0, 0, 0, 2 * Math.E]);
    expect([...clipped]).toEqual([0, 0, 1, 0]);
  });

  it('refuses arrays of different length', () => {
    const row = { ...rowOf([]), logProbs: [-1] };
    expect(() => clippedSurrogate(row, clip)).toThrowError('A row has 1 log probs, but 0 behaviourLogProbs.');
  });
});
