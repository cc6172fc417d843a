import { describe, expect, it } from 'vitest';
import torch from '../../../vectors/torch.json' with { type: 'json' };
import trl from '../../../vectors/trl.json' with { type: 'json' };
import verl from '../../../vectors/verl.json' with { type: 'json' };
import { type Aggregation, tokenWeights } from '../weights.ts';
import { type CorrectionName, corrections, mismatchFactors } from './corrections.ts';
import { sampledEntropy } from './entropy.ts';
import { type KlEstimator, klToReference } from './kl.ts';
import { policyLosses } from './losses.ts';
import { valueLoss } from './value.ts';

/** What the issue asks of agreement with other systems; both sides are float64. */
const tolerance = 1e-6;
const near = (found: ArrayLike<number>, expected: readonly number[], mask?: readonly number[]) => {
  expect(found).toHaveLength(expected.length);
  for (const [at, value] of expected.entries()) {
    if (mask?.[at] !== 0) expect(Math.abs(found[at]! - value)).toBeLessThan(tolerance);
  }
};
const sum = (values: ArrayLike<number>) => Array.from(values).reduce((total, value) => total + value, 0);
const tokensOf = (name: string) => policyLosses.find((loss) => loss.name === name)!.tokens;

/** Weight of each place of each row, each row a rollout of its own. */
function weightsOf(masks: readonly (readonly number[])[], aggregation: string, fixedLength: number): number[][] {
  const sized = masks.map((mask, at) => ({ rolloutId: `${at}`, groupId: 'task', trainedTokens: sum(mask) }));
  const weights = tokenWeights(sized, aggregation as Aggregation, fixedLength);
  return masks.map((mask, at) => mask.map((used) => used * weights[at]!));
}

describe('verl 0.9.1', () => {
  it.each(verl.losses)('has the same loss and gradient of a batch: $name, $aggregation, $bounds', (vector) => {
    const { rows, bounds } = vector;
    const weights = weightsOf(rows.mask, vector.aggregation, vector.fixedLength);
    const found = weights.map((row, at) =>
      tokensOf(vector.name)(
        {
          logProbs: rows.logProbs[at]!,
          behaviourLogProbs: rows.behaviourLogProbs[at]!,
          advantages: rows.advantages[at]!,
          weights: row,
        },
        bounds,
      ),
    );
    expect(Math.abs(sum(found.map(({ loss }) => sum(loss))) - vector.loss)).toBeLessThan(tolerance);
    for (const [at, { slope }] of found.entries()) near(slope, vector.slope[at]!);
  });

  it.each(verl.kl)('has the same KL estimate and gradient: $estimator', (vector) => {
    const weights = vector.loss.map(() => 1);
    const { loss, slope } = klToReference({ ...vector, weights }, vector.estimator as KlEstimator);
    near(loss, vector.loss);
    near(slope, vector.slope);
  });

  it('has the same clipped value loss and gradient', () => {
    const { value } = verl;
    const weights = value.mask.map((used) => used / sum(value.mask));
    const { loss, slope } = valueLoss({ ...value, weights }, value);
    expect(Math.abs(sum(loss) - value.loss)).toBeLessThan(tolerance);
    near(slope, value.slope);
  });

  it.each(verl.corrections)('weighs what the sampler computed otherwise alike: $name', (vector) => {
    for (const [at, weights] of vector.mask.entries()) {
      const row = { logProbs: vector.logProbs[at]!, sampledLogProbs: vector.sampledLogProbs[at]!, weights };
      near(mismatchFactors(row, vector.name as CorrectionName, vector), vector.factors[at]!, weights);
    }
  });

  it('covers every correction', () => {
    const named = corrections.map(({ name }) => name).filter((name) => name !== 'none');
    expect(named).toEqual([...new Set(verl.corrections.map(({ name }) => name))]);
  });

  it('has the gradient of the entropy that sampled tokens give in expectation', () => {
    for (const [place, logits] of verl.entropy.logits.entries()) {
      const behaviour = logSoftmax(logits.map((logit, at) => logit + 0.3 * at)); // off policy on purpose
      const policy = logSoftmax(logits);
      const expected = verl.entropy.slope[place]!; // of +H; the loss is −H
      const found = logits.map(() => 0);
      for (const [token, logProb] of policy.entries()) {
        const row = { logProbs: [logProb], behaviourLogProbs: [behaviour[token]!], advantages: [0], weights: [1] };
        const { slope } = sampledEntropy(row);
        for (const other of logits.keys()) {
          const indicator = other === token ? 1 : 0;
          found[other]! += Math.exp(behaviour[token]!) * slope[0]! * (indicator - Math.exp(policy[other]!));
        }
      }
      near(
        found.map((value) => -value),
        expected,
      );
    }
  });
});

describe('TRL 1.16.0', () => {
  it.each(trl)('has the same loss and gradient of a batch: $label', (vector) => {
    const { rows, bounds, kl, corrected } = vector;
    let total = 0;
    for (const [at, weights] of weightsOf(rows.mask, vector.aggregation, vector.fixedLength).entries()) {
      const logProbs = rows.logProbs[at]!;
      const advantages = logProbs.map(() => rows.advantages[at]!);
      const policy = tokensOf(vector.name)(
        { logProbs, behaviourLogProbs: rows.behaviourLogProbs[at]!, advantages, weights },
        bounds,
      );
      const penalty = klToReference({ logProbs, referenceLogProbs: rows.referenceLogProbs[at]!, weights }, 'k3');
      const factor = (token: number) => (corrected ? rows.factors[at]![token]! : 1);
      const whole = (part: 'loss' | 'slope') =>
        logProbs.map((_, token) => policy[part][token]! * factor(token) + kl * penalty[part][token]!);
      total += sum(whole('loss'));
      near(whole('slope'), vector.slope[at]!);
    }
    expect(Math.abs(total - vector.loss)).toBeLessThan(tolerance);
  });
});

describe('PyTorch', () => {
  it.each(torch.losses)('has the same gradient through rows, rollouts and tasks: $aggregation', (vector) => {
    const sized = vector.rows.map((row) => ({ ...row, trainedTokens: row.logProbs.length }));
    const weights = tokenWeights(sized, vector.aggregation as Aggregation, vector.fixedLength);
    let total = 0;
    for (const [at, row] of vector.rows.entries()) {
      const of = (value: number) => row.logProbs.map(() => value);
      const { loss, slope } = tokensOf('importance-sampling')(
        { ...row, advantages: of(row.advantage), weights: of(weights[at]!) },
        { low: 0, high: 0 },
      );
      total += sum(loss);
      near(slope, vector.slope[at]!);
    }
    expect(Math.abs(total - vector.loss)).toBeLessThan(tolerance);
  });
});

function logSoftmax(logits: readonly number[]): number[] {
  const total = Math.log(sum(logits.map(Math.exp)));
  return logits.map((logit) => logit - total);
}
