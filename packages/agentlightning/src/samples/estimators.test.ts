import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import vectors from '../../vectors/objectives.json' with { type: 'json' };
import torch from '../../vectors/torch.json' with { type: 'json' };
import verl from '../../vectors/verl.json' with { type: 'json' };
import { type EstimatorName, estimate, estimators } from './estimators.ts';
import { Population } from './population.ts';
import { generalisedAdvantages, returnsToGo } from './returns.ts';
import { type Aggregation, aggregations, tokenWeights } from './weights.ts';

function advantages(name: EstimatorName, groups: readonly (readonly number[])[]): number[][] {
  const population = new Population();
  for (const [at, rewards] of groups.entries()) for (const reward of rewards) population.add(`${at}`, reward);
  return groups.map((rewards, at) =>
    rewards.map((own) => estimate(name, own, { own, ...population.compare(`${at}`) }, { scaleByStd: true })),
  );
}

const reward = fc.integer({ min: 0, max: 8 }).map((eighths) => eighths / 8);
const anyGroups = fc.array(fc.array(reward, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 });

describe('estimators', () => {
  it.each(vectors.advantages)('equal the paper’s formula: $name, $batch', ({ name, groups, advantages: expected }) => {
    const found = advantages(name as EstimatorName, groups);
    for (const [at, group] of expected.entries()) {
      for (const [member, value] of group.entries()) expect(Math.abs(found[at]![member]! - value)).toBeLessThan(1e-9);
    }
  });

  it.each(verl.advantages)('agree with verl 0.9.1: $name, $batch', ({ name, groups, advantages: expected }) => {
    const found = advantages(name as EstimatorName, groups);
    for (const [at, group] of expected.entries()) {
      for (const [member, value] of group.entries()) expect(Math.abs(found[at]![member]! - value)).toBeLessThan(1e-6);
    }
  });

  it('agree with PyTorch: maxrl', () => {
    const found = advantages('maxrl', torch.maxrl.groups).flat();
    for (const [at, value] of torch.maxrl.advantages.flat().entries()) expect(found[at]).toBeCloseTo(value, 9);
  });

  it.each(estimators.filter(({ name }) => name !== 'maxrl'))(
    '$name does not move when all rewards shift',
    ({ name }) => {
      fc.assert(
        fc.property(anyGroups, (groups) => {
          const shifted = advantages(
            name,
            groups.map((group) => group.map((value) => value + 4)),
          );
          for (const [at, group] of advantages(name, groups).entries()) {
            for (const [member, value] of group.entries()) expect(shifted[at]![member]).toBeCloseTo(value, 9);
          }
        }),
      );
    },
  );

  it.each(estimators)('$name scales as it must, and follows its members when these change places', ({ name }) => {
    const invariant = name !== 'dr-grpo' && name !== 'rloo';
    fc.assert(
      fc.property(anyGroups, (groups) => {
        const plain = advantages(name, groups);
        const scaled = advantages(
          name,
          groups.map((group) => group.map((value) => value * 1024)),
        );
        const reversed = advantages(
          name,
          groups.map((group) => group.toReversed()),
        );
        for (const [at, group] of plain.entries()) {
          for (const [member, value] of group.entries()) {
            expect(scaled[at]![member]).toBeCloseTo(invariant ? value : value * 1024, 3); // ε does not scale
            expect(reversed[at]!.toReversed()[member]).toBeCloseTo(value, 9);
          }
        }
      }),
    );
  });

  it.each(estimators)('$name is exactly 0 where nothing differs, and finite for the largest numbers', ({ name }) => {
    for (const groups of [[[3]], [[0.1 + 0.2, 0.3]], [[0, 0, 0], [0]]]) {
      expect(
        advantages(name, groups)
          .flat()
          .every((value) => value === 0),
      ).toBe(true);
    }
    const huge = advantages(name, [[Number.MAX_VALUE, 0, 1]]).flat();
    expect(huge.every(Number.isFinite)).toBe(true);
    expect(() => advantages(name, [[1, Number.NaN]])).toThrowError(/Reward 2 of 2/);
  });
});

describe('returns', () => {
  it.each(vectors.gae)('equal generalised advantage estimation: $discount, $lambda', (vector) => {
    const found = generalisedAdvantages(vector, vector);
    for (const [at, value] of vector.advantages.entries()) {
      expect(Math.abs(found.advantages[at]! - value)).toBeLessThan(1e-9);
      expect(found.returns[at]).toBeCloseTo(value + vector.values[at]!, 9);
    }
  });

  it.each(verl.gae)('equal those of verl 0.9.1: $discount, $lambda', (vector) => {
    const { returns } = generalisedAdvantages(vector, vector);
    for (const [at, value] of vector.returns.entries()) expect(Math.abs(returns[at]! - value)).toBeLessThan(1e-6);
  });

  it('refuse what is not a number or not of one length, and take nothing', () => {
    const options = { discount: 1, lambda: 1 };
    expect(() => generalisedAdvantages({ rewards: [1, Number.NaN], values: [0, 0] }, options)).toThrowError(/Entry 2/);
    expect(() => generalisedAdvantages({ rewards: [1], values: [] }, options)).toThrowError(/1 rewards, but 0 values/);
    expect(returnsToGo([], 1)).toEqual([]);
    expect(returnsToGo([1, 2, 4], 0.5)).toEqual([3, 4, 4]);
  });
});

describe('aggregations', () => {
  const { rows, fixedLength, expected } = vectors.aggregation;
  const sized = rows.map((row) => ({ ...row, trainedTokens: row.losses.length }));

  it.each(aggregations)('%s is the mean that its name says', (aggregation: Aggregation) => {
    const weights = tokenWeights(sized, aggregation, fixedLength);
    const total = sized.reduce(
      (sum, { losses }, at) => losses.reduce((all, loss) => all + weights[at]! * loss, sum),
      0,
    );
    expect(Math.abs(total - expected[aggregation])).toBeLessThan(1e-9);
  });
});
