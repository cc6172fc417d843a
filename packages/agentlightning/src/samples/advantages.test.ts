import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import vectors from '../../vectors/grpo.json' with { type: 'json' };
import { advantage, groupBaseline } from './advantages.ts';

const advantages = (rewards: readonly number[], scaleByStd = true) => {
  const baseline = groupBaseline(rewards);
  return rewards.map((reward) => advantage(reward, baseline, { scaleByStd }));
};

const rewardList = fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: 2, maxLength: 16 });
const spread = (values: readonly number[]) => Math.max(...values) - Math.min(...values);

describe('group-relative advantages', () => {
  it.each(vectors.advantages)('equals the paper’s formula: $name, std $scaleByStd, epsilon $epsilon', (vector) => {
    const { rewards, scaleByStd, epsilon } = vector;
    const baseline = groupBaseline(rewards);
    for (const [at, reward] of rewards.entries()) {
      expect(Math.abs(advantage(reward, baseline, { scaleByStd, epsilon }) - vector.advantages[at]!)).toBeLessThan(
        1e-9,
      );
    }
  });

  it('sums to zero over a group', () => {
    fc.assert(
      fc.property(rewardList, fc.boolean(), (rewards, scaleByStd) => {
        const sum = advantages(rewards, scaleByStd).reduce((total, value) => total + value, 0);
        expect(Math.abs(sum)).toBeLessThan(1e-9 * Math.max(1, spread(rewards)) * rewards.length);
      }),
    );
  });

  it('does not move when all rewards shift, and with std not when they scale', () => {
    const apart = rewardList.filter((rewards) => spread(rewards) > 1);
    fc.assert(
      fc.property(apart, fc.double({ min: -50, max: 50, noNaN: true }), (rewards, shift) => {
        const plain = advantages(rewards);
        const shifted = advantages(rewards.map((reward) => reward + shift));
        const scaled = advantages(rewards.map((reward) => reward * 1000));
        for (const [at, value] of plain.entries()) {
          expect(shifted[at]).toBeCloseTo(value, 9);
          expect(scaled[at]).toBeCloseTo(value, 4); // ε does not scale
        }
      }),
    );
  });

  it('is zero and says so in a group of one and in equal rewards', () => {
    for (const rewards of [[3], [0, 0, 0], [0.1 + 0.2, 0.3], []]) {
      expect(groupBaseline(rewards).zeroVariance).toBe(true);
      expect(advantages(rewards)).toEqual(rewards.map(() => 0));
    }
    expect(groupBaseline([0, 1e-20]).zeroVariance).toBe(false);
  });

  it('refuses what is not a number', () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => groupBaseline([1, wrong])).toThrowError(/Reward 2 of 2/);
    }
  });

  it('stays finite for the largest numbers there are', () => {
    const values = advantages([Number.MAX_VALUE, -Number.MAX_VALUE, 0, 1]);
    expect(values.every(Number.isFinite)).toBe(true);
    expect(values[0]).toBeGreaterThan(1);
    expect(advantages([Number.MAX_VALUE, -Number.MAX_VALUE], false).every(Number.isFinite)).toBe(true);
  });
});
