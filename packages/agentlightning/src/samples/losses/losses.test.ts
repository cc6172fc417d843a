import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import vectors from '../../../vectors/objectives.json' with { type: 'json' };
import { policyLosses } from './losses.ts';
import type { LossRow } from './row.ts';

const sum = (values: ArrayLike<number>) => Array.from(values).reduce((total, value) => total + value, 0);
const tokensOf = (name: string) => policyLosses.find((loss) => loss.name === name)!.tokens;
const clip = { low: 0.2, high: 0.28, dual: 3 };

const token = fc.record({
  logProb: fc.double({ min: -4, max: -0.01, noNaN: true }),
  shift: fc.double({ min: -1.5, max: 1.5, noNaN: true }),
  weight: fc.constantFrom(0, 0.5),
});
const anyRow = fc
  .tuple(fc.array(token, { minLength: 1, maxLength: 5 }), fc.double({ min: -3, max: 3, noNaN: true }))
  .map(([tokens, advantage]) => ({
    logProbs: tokens.map(({ logProb }) => logProb),
    behaviourLogProbs: tokens.map(({ logProb, shift }) => logProb - shift),
    advantages: tokens.map(() => advantage),
    weights: tokens.map(({ weight }) => weight),
  }));

/** Within a step of a corner, a central difference is of neither side. */
function nearCorner({ logProbs, behaviourLogProbs, weights }: LossRow): boolean {
  const logRatios = Array.from(logProbs, (logProb, at) => logProb - behaviourLogProbs[at]!);
  const used = logRatios.filter((_, at) => weights[at] !== 0);
  const corners = [1 - clip.low, 1 + clip.high, clip.dual].map(Math.log);
  return [...logRatios, sum(used) / (used.length || 1)].some((value) =>
    corners.some((corner) => Math.abs(value - corner) < 1e-4),
  );
}

describe('policy losses', () => {
  it('are all in the vectors', () => {
    expect(policyLosses.map(({ name }) => name)).toEqual([...new Set(vectors.losses.map(({ name }) => name))]);
  });

  it.each(vectors.losses)('equal the paper’s value and jax’s gradient: $name $bounds', (vector) => {
    const { loss, slope } = tokensOf(vector.name)(vector.row, vector.bounds);
    for (const at of vector.loss.keys()) {
      expect(Math.abs(loss[at]! - vector.loss[at]!)).toBeLessThan(1e-9);
      expect(Math.abs(slope[at]! - vector.slope[at]!)).toBeLessThan(1e-9);
    }
  });

  it.each(policyLosses.filter(({ name }) => name !== 'cispo'))('$name has the slope of central differences', (loss) => {
    const step = 1e-6;
    fc.assert(
      fc.property(anyRow, (row) => {
        fc.pre(!nearCorner(row));
        const { slope } = loss.tokens(row, clip);
        for (const at of row.logProbs.keys()) {
          const moved = (offset: number) => ({
            ...row,
            logProbs: row.logProbs.map((logProb, other) => (other === at ? logProb + offset : logProb)),
          });
          const rise = sum(loss.tokens(moved(step), clip).loss) - sum(loss.tokens(moved(-step), clip).loss);
          expect(Math.abs(rise / (2 * step) - slope[at]!)).toBeLessThan(1e-5);
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each(policyLosses)('$name moves nothing that is masked or has no advantage, and takes an empty row', (loss) => {
    fc.assert(
      fc.property(anyRow, (row) => {
        const still = loss.tokens({ ...row, advantages: row.advantages.map(() => 0) }, clip);
        expect(sum(still.slope.map(Math.abs))).toBe(0);
        const { loss: values, slope } = loss.tokens(row, clip);
        for (const [at, weight] of row.weights.entries()) {
          if (weight === 0) expect([values[at], slope[at]]).toEqual([0, 0]);
        }
      }),
      { numRuns: 50 },
    );
    const empty = { logProbs: [], behaviourLogProbs: [], advantages: [], weights: [] };
    expect(loss.tokens(empty, clip).loss).toHaveLength(0);
  });

  it.each(policyLosses)('$name does not depend on the order of tokens, and doubles with its weights', (loss) => {
    fc.assert(
      fc.property(anyRow, (row) => {
        const reversed = {
          logProbs: row.logProbs.toReversed(),
          behaviourLogProbs: row.behaviourLogProbs.toReversed(),
          advantages: row.advantages.toReversed(),
          weights: row.weights.toReversed(),
        };
        const { slope } = loss.tokens(row, clip);
        const doubled = loss.tokens({ ...row, weights: row.weights.map((weight) => weight * 2) }, clip);
        for (const [at, value] of loss.tokens(reversed, clip).slope.toReversed().entries()) {
          expect(value).toBeCloseTo(slope[at]!, 9);
          expect(doubled.slope[at]).toBeCloseTo(2 * slope[at]!, 9);
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each(policyLosses)('$name shows a NaN in its sum, and refuses arrays of different length', (loss) => {
    const row = { logProbs: [Number.NaN, -1], behaviourLogProbs: [-1, -1], advantages: [1, 1], weights: [1, 1] };
    expect(sum(loss.tokens(row, clip).loss)).toBeNaN();
    expect(() => loss.tokens({ ...row, advantages: [1] }, clip)).toThrowError('but 1 advantages.');
  });
});
