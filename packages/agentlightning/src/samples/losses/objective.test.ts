import { describe, expect, it } from 'vitest';
import vectors from '../../../vectors/objectives.json' with { type: 'json' };
import { clippedSurrogate } from './clipped-surrogate.ts';
import { type CorrectionName, corrections, mismatchFactors } from './corrections.ts';
import { type KlEstimator, klReturns, klToReference } from './kl.ts';
import { type ObjectiveOptions, objective } from './objective.ts';
import { valueLoss } from './value.ts';

const near = (found: ArrayLike<number>, expected: readonly number[]) => {
  expect(found).toHaveLength(expected.length);
  for (const [at, value] of expected.entries()) expect(Math.abs(found[at]! - value)).toBeLessThan(1e-9);
};

describe('mismatch factors', () => {
  it.each(vectors.corrections)('equal the formula: $name', ({ name, factors, ...row }) => {
    near(mismatchFactors(row, name as CorrectionName, row), factors);
  });

  it('are 1 where trainer and sampler agree, and cover an empty row', () => {
    const row = { logProbs: [-1, -2], sampledLogProbs: [-1, -2], weights: [0.5, 0.5] };
    for (const { name } of corrections) {
      expect([...mismatchFactors(row, name, { cap: 2, floor: 0.5 })]).toEqual([1, 1]);
      expect(mismatchFactors({ logProbs: [], sampledLogProbs: [], weights: [] }, name, { cap: 2, floor: 0 })).toEqual(
        new Float64Array(0),
      );
    }
  });
});

describe('KL to a reference', () => {
  it.each(vectors.kl)('equals the estimate, its jax gradient and its return: $estimator', (vector) => {
    const estimator = vector.estimator as KlEstimator;
    const { loss, slope } = klToReference(vector, estimator);
    near(loss, vector.loss);
    near(slope, vector.slope);
    near(klReturns(vector, estimator, 0.3), vector.returns);
  });

  it('is 0 at the reference', () => {
    const row = { logProbs: [-1, -3], referenceLogProbs: [-1, -3], weights: [1, 1] };
    for (const estimator of ['k1', 'k2', 'k3'] as const)
      expect(Math.abs(klToReference(row, estimator).loss[0]!)).toBe(0);
  });
});

describe('value loss', () => {
  it.each(vectors.value)('equals the formula and its jax gradient: clip $clip', ({ clip, row, loss, slope }) => {
    const found = valueLoss(row, { clip });
    near(found.loss, loss);
    near(found.slope, slope);
  });
});

describe('objective', () => {
  const row = { logProbs: [-1, -2], sampledLogProbs: [-1.5, -2], advantages: [1, -1], weights: [0.5, 0.5] };
  const plain: ObjectiveOptions = {
    loss: 'clipped',
    clip: { low: 0.2, high: 0.2 },
    correction: { name: 'none', cap: 2, floor: 0.5 },
    kl: { coefficient: 0, estimator: 'k3' },
    entropy: 0,
  };

  it('is the plain loss against the sampler when nothing else is asked for', () => {
    const surrogate = clippedSurrogate({ ...row, behaviourLogProbs: row.sampledLogProbs }, plain.clip);
    expect(objective(row, plain)).toEqual(surrogate);
  });

  it('compares with the trainer’s old log probs and makes up for the rest by the factor', () => {
    const old = { ...row, oldLogProbs: [-1, -2] };
    const { slope } = objective(old, { ...plain, correction: { name: 'token-tis', cap: 1.25, floor: 0 } });
    near(slope, [-0.5 * 1.25, 0.5]); // ratio 1 to the old ones; e^0.5 to the sampler is cut to 1.25
  });

  it('leaves the ratio of a sequence alone when a token of it is masked for mismatch', () => {
    const old = { ...row, logProbs: [-1, -1], oldLogProbs: [-1, -2], advantages: [-1, -1] };
    const mask = { name: 'token-mask', cap: 1.25, floor: 0.5 } as const; // the first token's e^0.5 is beyond
    const { slope } = objective(old, { ...plain, loss: 'gspo', correction: mask });
    near(slope, [0, 0.5 * Math.exp((0 + 1) / 2)]);
  });

  it('takes the entropy bonus off the loss, so that likely tokens lose and unlikely ones gain', () => {
    const on = { ...row, sampledLogProbs: row.logProbs, advantages: [0, 0] };
    const { loss, slope } = objective(on, { ...plain, entropy: 0.1 });
    near(loss, [-0.05, -0.1]);
    near(slope, [-0.05, -0.1]);
  });

  it('adds the KL term with its coefficient', () => {
    const { loss, slope } = objective(
      { ...row, advantages: [0, 0], referenceLogProbs: [-2, -2] },
      { ...plain, kl: { coefficient: 0.1, estimator: 'k1' } },
    );
    near(loss, [0.05, 0]);
    near(slope, [0.05, 0.05]);
  });
});
