import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import vectors from '../../../vectors/preferences.json' with { type: 'json' };
import { type PreferenceOptions, type PreferenceRow, preferenceLoss, preferenceVariants } from './preference.ts';

const token = fc.record({
  logProb: fc.double({ min: -6, max: -0.01, noNaN: true }),
  reference: fc.double({ min: -6, max: -0.01, noNaN: true }),
  used: fc.constantFrom(0, 1),
});
const anyRow = fc.array(token, { minLength: 1, maxLength: 5 }).map((tokens) => ({
  logProbs: tokens.map(({ logProb }) => logProb),
  referenceLogProbs: tokens.map(({ reference }) => reference),
  mask: tokens.map(({ used }) => used),
}));
const anyOptions = fc.record({
  variant: fc.constantFrom(...preferenceVariants),
  beta: fc.constantFrom(0.1, 0.5, 2),
  labelSmoothing: fc.constantFrom(0, 0.1),
  imitation: fc.constantFrom(0, 0.5),
});

describe('preferenceLoss', () => {
  it('is what PyTorch computes in float64, slopes too', () => {
    expect(new Set(vectors.cases.map(({ options }) => options.variant))).toEqual(new Set(preferenceVariants));
    for (const { options, pair, loss, slopes, rewards } of vectors.cases) {
      const ours = preferenceLoss(pair, options as PreferenceOptions);
      expect(ours.loss).toBeCloseTo(loss, 9);
      expect(ours.rewards.chosen).toBeCloseTo(rewards.chosen, 9);
      expect(ours.rewards.rejected).toBeCloseTo(rewards.rejected, 9);
      for (const side of ['chosen', 'rejected'] as const) {
        for (const [at, slope] of slopes[side].entries()) expect(ours.slopes[side][at]).toBeCloseTo(slope, 9);
      }
    }
  });

  it('has the slope of its loss', () => {
    const step = 1e-6;
    fc.assert(
      fc.property(anyRow, anyRow, anyOptions, (chosen, rejected, options) => {
        const { slopes, rewards } = preferenceLoss({ chosen, rejected }, options);
        fc.pre(Math.abs(rewards.chosen - rewards.rejected - 1) > 1e-3); // the corner of the hinge
        for (const at of chosen.logProbs.keys()) {
          const lossAt = (shift: number) =>
            preferenceLoss({ chosen: moved(chosen, at, shift), rejected }, options).loss;
          const difference = (lossAt(step) - lossAt(-step)) / (2 * step);
          expect(Math.abs(slopes.chosen[at]! - difference)).toBeLessThan(1e-5 * (1 + Math.abs(difference)));
        }
      }),
    );
  });

  it('stays finite however far the policy has moved', () => {
    const far = (value: number) => ({ logProbs: [value], referenceLogProbs: [0], mask: [1] });
    const options = { variant: 'sigmoid', beta: 1, labelSmoothing: 0, imitation: 0 } as const;
    const lost = preferenceLoss({ chosen: far(-5000), rejected: far(0) }, options);
    expect(lost).toMatchObject({ loss: 5000, slopes: { chosen: Float64Array.of(-1), rejected: Float64Array.of(1) } });
    const won = preferenceLoss({ chosen: far(0), rejected: far(-5000) }, options);
    expect([won.loss, Math.abs(won.slopes.chosen[0]!)]).toEqual([0, 0]);
  });

  it('refuses rows of arrays that differ in length', () => {
    const row = { logProbs: [0, -1], referenceLogProbs: [0], mask: [0, 1] };
    const options = { variant: 'ipo', beta: 1, labelSmoothing: 0, imitation: 0 } as const;
    expect(() => preferenceLoss({ chosen: row, rejected: row }, options)).toThrow('2 log probs, but 1');
  });
});

function moved(row: PreferenceRow, at: number, shift: number): PreferenceRow {
  return { ...row, logProbs: Array.from(row.logProbs, (value, index) => (index === at ? value + shift : value)) };
}
