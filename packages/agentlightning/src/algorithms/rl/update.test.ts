import { describe, expect, it } from 'vitest';
import type { Sample } from '../../samples/index.ts';
import { grpoDefaults } from './options.ts';
import { TabularEngine } from './tabular-engine.test.support.ts';
import { minibatches, updatePolicy } from './update.ts';

const sampleOf = (rolloutId: string, advantage = 1): Sample => ({
  rolloutId,
  groupId: 'group',
  attemptId: rolloutId,
  agentName: null,
  callIds: [],
  tokenIds: Int32Array.of(0, 1, 2),
  mask: Uint8Array.of(0, 1, 1),
  logProbs: Float32Array.of(0, -Math.log(4), -Math.log(4)),
  advantages: Float32Array.of(0, advantage, advantage),
  trainedTokens: 2,
});

const update = (engine: TabularEngine, more: Partial<typeof grpoDefaults> = {}) => {
  const samples = [sampleOf('a'), sampleOf('b'), sampleOf('c', -1)];
  return updatePolicy({ engine, samples, options: { ...grpoDefaults, ...more }, seed: 1, step: 1, reference: '' });
};

describe('updatePolicy', () => {
  it('compares log probs before any weight has moved', async () => {
    const { mismatch, clipFraction, loss } = await update(new TabularEngine({ vocabularySize: 4 }), { epochs: 3 });
    expect(mismatch.max).toBeLessThan(1e-6);
    expect(clipFraction).toBe(0);
    expect(loss).toBeCloseTo(-1 / 3, 3); // (−1 −1 +1) / 3 while the ratio is about 1
  });

  it('counts the tokens whose gradient the clip took away', async () => {
    const engine = new TabularEngine({ vocabularySize: 4 });
    // After a first large step both kinds of token are beyond a bound; the second epoch clips those that gained.
    const { clipFraction } = await update(engine, { epochs: 2, learningRate: 1, clipLow: 0.01, clipHigh: 0.01 });
    expect(clipFraction).toBeCloseTo((0 + 4) / 12, 9);
  });

  it('says that training diverged instead of going on with broken weights', async () => {
    const engine = new TabularEngine({ vocabularySize: 4 });
    await expect(update(engine, { epochs: 2, learningRate: Number.POSITIVE_INFINITY })).rejects.toMatchObject({
      code: 'training_diverged',
      message: 'The loss of step 1 is NaN: the weights can no longer be trusted.',
    });
  });
});

describe('minibatches', () => {
  it('keeps the rows of a rollout together and leaves none empty', () => {
    const samples = ['a', 'b', 'a', 'c', 'd', 'e', 'a'].map((id) => sampleOf(id));
    const batches = minibatches(samples, { minibatches: 2, minibatchTokens: 0 }, 1);
    expect(batches.map((batch) => new Set(batch.map(({ rolloutId }) => rolloutId)).size)).toEqual([2, 3]);
    expect(batches.flat()).toHaveLength(7);
    expect(batches.filter((batch) => batch.some(({ rolloutId }) => rolloutId === 'a'))).toHaveLength(1);
    expect(minibatches(samples, { minibatches: 99, minibatchTokens: 0 }, 1)).toHaveLength(5);
    expect(minibatches(samples, { minibatches: 2, minibatchTokens: 0 }, 1)).toEqual(batches);
  });

  it('closes a mini-batch with the rollout that brings it to so many tokens', () => {
    const samples = ['a', 'b', 'a', 'c', 'd', 'e', 'a'].map((id) => sampleOf(id));
    const tokensOf = (batch: readonly Sample[]) => batch.reduce((sum, { trainedTokens }) => sum + trainedTokens, 0);
    const each = tokensOf(samples) / samples.length;
    const batches = minibatches(samples, { minibatches: 1, minibatchTokens: 3 * each }, 1);
    expect(
      batches
        .flat()
        .map((sample) => samples.indexOf(sample))
        .sort(),
    ).toEqual([0, 1, 2, 3, 4, 5, 6]);
    for (const batch of batches.slice(0, -1)) expect(tokensOf(batch)).toBeGreaterThanOrEqual(3 * each);
    expect(batches.filter((batch) => batch.some(({ rolloutId }) => rolloutId === 'a'))).toHaveLength(1);
    expect(minibatches(samples, { minibatches: 1, minibatchTokens: 1 }, 1)).toHaveLength(5);
    expect(minibatches([], { minibatches: 1, minibatchTokens: 1 }, 1)).toEqual([]);
  });
});
