import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChoiceParameters, chooseToken } from './choose-token.ts';

const open: ChoiceParameters = { temperature: 1, topK: 0, topP: 1 };

/** Logits whose softmax is `probabilities`, shifted as real ones are. */
function logitsOf(probabilities: number[], shift = 3): Float32Array {
  return Float32Array.from(probabilities, (probability) => Math.log(probability) + shift);
}

/** Share of an even grid of uniform numbers that falls to each token: its probability, to one part in the grid's size. */
function shares(logits: Float32Array, parameters: ChoiceParameters, grid = 2000): number[] {
  const counts = new Array<number>(logits.length).fill(0);
  for (let step = 0; step < grid; step++) counts[chooseToken(logits, parameters, (step + 0.5) / grid).id]! += 1;
  return counts.map((count) => count / grid);
}

function expectShares(actual: number[], expected: number[]): void {
  actual.forEach((share, id) => {
    expect(Math.abs(share - expected[id]!)).toBeLessThan(1e-3);
  });
}

const distribution = [0.05, 0.4, 0.15, 0.3, 0.1];

describe('chooseToken', () => {
  it('draws with the probabilities of the softmax', () => {
    expectShares(shares(logitsOf(distribution), open), distribution);
  });

  it('divides logits by the temperature', () => {
    const squares = distribution.map((p) => p * p);
    const total = squares.reduce((sum, value) => sum + value, 0);
    const expected = squares.map((value) => value / total);
    expectShares(shares(logitsOf(distribution), { ...open, temperature: 0.5 }), expected);
    const { id, logProb } = chooseToken(logitsOf(distribution), { ...open, temperature: 0.5 }, 0.5);
    expect(logProb).toBeCloseTo(Math.log(expected[id]!), 6);
  });

  it('is greedy at temperature 0, takes the first of equals, and tells the log prob at temperature 1', () => {
    const { id, logProb } = chooseToken(logitsOf([0.2, 0.4, 0.4]), { ...open, temperature: 0 }, 0.99);
    expect(id).toBe(1);
    expect(logProb).toBeCloseTo(Math.log(0.4), 6);
  });

  it.each([
    { name: 'top-k', cut: { topK: 2 }, expected: [0, 4 / 7, 0, 3 / 7, 0] },
    { name: 'top-p', cut: { topP: 0.8 }, expected: [0, 0.4 / 0.85, 0.15 / 0.85, 0.3 / 0.85, 0] },
    {
      name: 'a top-p just out of reach of two tokens',
      cut: { topP: 0.72 },
      expected: [0, 0.4 / 0.85, 0.15 / 0.85, 0.3 / 0.85, 0],
    },
    { name: 'a tiny top-p', cut: { topP: 1e-9 }, expected: [0, 1, 0, 0, 0] },
    // top-k leaves 0.4, 0.3 and 0.15 of 0.85; the first two are 0.82 of that.
    { name: 'top-k and then top-p', cut: { topK: 3, topP: 0.8 }, expected: [0, 4 / 7, 0, 3 / 7, 0] },
    { name: 'a top-k beyond the vocabulary', cut: { topK: 9 }, expected: distribution },
  ])('renormalises what $name leaves', ({ cut, expected }) => {
    expectShares(shares(logitsOf(distribution), { ...open, ...cut }), expected);
  });

  it('tells the log prob of before the cut', () => {
    const { id, logProb } = chooseToken(logitsOf(distribution), { temperature: 1, topK: 1, topP: 0.1 }, 0.7);
    expect(id).toBe(1);
    expect(logProb).toBeCloseTo(Math.log(0.4), 6);
  });

  it('never yields a token that a cut excludes', () => {
    const logits = fc.array(fc.float({ min: -12, max: 12, noNaN: true }), { minLength: 2, maxLength: 40 });
    const parameters = fc.record({
      temperature: fc.double({ min: 0.1, max: 3, noNaN: true }),
      topK: fc.integer({ min: 0, max: 12 }),
      topP: fc.double({ min: 0.01, max: 1, noNaN: true }),
    });
    const uniform = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(logits, parameters, uniform, (values, chosen, u) => {
        const row = Float32Array.from(values);
        const { id } = chooseToken(row, chosen, u);
        const mass = (logit: number) => Math.exp((logit - Math.max(...row)) / chosen.temperature);
        const above = [...row].filter((logit) => mass(logit) > mass(row[id]!));
        if (chosen.topK > 0) expect(above.length).toBeLessThan(chosen.topK);
        // With nothing but more probable tokens the nucleus would already be full, so this one would be outside of it.
        const ranked = [...row].sort((a, b) => b - a).slice(0, chosen.topK || row.length);
        const total = ranked.reduce((sum, logit) => sum + mass(logit), 0);
        const reached = above.reduce((sum, logit) => sum + mass(logit), 0);
        if (chosen.topP < 1) expect(reached).toBeLessThan(chosen.topP * total * (1 + 1e-12));
      }),
    );
  });

  it('stays in the vocabulary when rounding leaves the target above the sum', () => {
    expect(chooseToken(new Float32Array(3), open, 1 - 2 ** -53).id).toBe(2);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'refuses a logit of %s by its token',
    (bad) => {
      expect(() => chooseToken(Float32Array.of(0, 1, bad), open, 0.5)).toThrow(/token 2 is/);
    },
  );
});
