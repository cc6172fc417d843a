import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { policyLosses, type Sample } from '../../samples/index.ts';
import { type GrpoOptions, grpoDefaults } from './options.ts';
import { TabularEngine } from './tabular-engine.test.support.ts';
import { updatePolicy } from './update.ts';

let folder: string;
let reference: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agl-objective-'));
  reference = join(folder, 'reference');
});
afterAll(() => rm(folder, { recursive: true }));

const sampleOf = (rolloutId: string, advantage: number, recorded = -Math.log(4)): Sample => ({
  rolloutId,
  groupId: 'group',
  attemptId: rolloutId,
  agentName: null,
  callIds: [],
  tokenIds: Int32Array.of(0, 1, 2, 1),
  mask: Uint8Array.of(0, 1, 0, 1),
  logProbs: Float32Array.of(0, recorded, 0, recorded),
  advantages: Float32Array.of(0, advantage, 0, advantage),
  trainedTokens: 2,
});

const sampleRow = { tokenIds: sampleOf('a', 0).tokenIds, weights: Float32Array.of(0, 1, 0, 1) };

async function trained(more: Partial<GrpoOptions>, samples = [sampleOf('a', 1), sampleOf('b', -0.5)]) {
  const engine = new TabularEngine({ vocabularySize: 4 });
  const options = { ...grpoDefaults, epochs: 3, learningRate: 0.1, ...more };
  await engine.saveState(reference);
  const report = await updatePolicy({ engine, samples, options, seed: 1, step: 1, reference });
  return { report, weights: engine.weights.flat(), engine };
}

const furthest = (left: number[], right: number[]) =>
  Math.max(...left.map((value, at) => Math.abs(value - right[at]!)));

describe('injected objectives', () => {
  it('train exactly as the engine’s own loss does', async () => {
    const named = await trained({});
    // A dual clip that no ratio reaches is the same loss, but not the engine's.
    const injected = await trained({ dualClip: 1e6 });
    expect(furthest(injected.weights, named.weights)).toBeLessThan(1e-6);
    expect(injected.report.loss).toBeCloseTo(named.report.loss, 6);
    expect(injected.report.clipFraction).toBe(named.report.clipFraction);
  });

  it.each(policyLosses)('$name makes what was rewarded more probable', async ({ name }) => {
    const { weights, report } = await trained({ loss: name, clipLow: 0.2, clipHigh: 0.28 }, [sampleOf('a', 1)]);
    expect(weights[1]).toBeGreaterThan(weights[0]!);
    expect(Number.isFinite(report.loss)).toBe(true);
  });

  it('weigh by what the trainer says about the sampler’s tokens', async () => {
    // The sampler claims e^−1 less than the trainer computes: ρ = e is cut to 2, so that the first gradient doubles.
    const options = { epochs: 1, maxGradNorm: 0 };
    const agreeing = await trained({ ...options, loss: 'reinforce' }, [sampleOf('a', 1)]);
    const claimed = [sampleOf('a', 1, -Math.log(4) - 1)];
    const correction = { kind: 'token-tis', cap: 2, floor: 0.5 } as const;
    const corrected = await trained({ ...options, loss: 'reinforce', correction }, claimed);
    expect(corrected.report.gradNorm).toBeCloseTo(2 * agreeing.report.gradNorm, 6);
    expect(corrected.report.mismatch.max).toBeCloseTo(1, 5);
    const masked = await trained({ ...options, correction: { ...correction, kind: 'geometric-mask' } }, claimed);
    expect(masked.report.gradNorm).toBe(0);
  });

  it.each(['loss', 'reward'] as const)('hold the policy to the run’s first weights: KL in the %s', async (where) => {
    const kl = { coefficient: 5, estimator: 'k3', in: where } as const;
    const { engine } = await trained({ learningRate: 0.5 }, [sampleOf('a', 1)]);
    const moved = engine.weights.flat();
    // The reward is gone: what still moves the weights is the penalty alone, back to where they came from.
    const samples = [{ ...sampleOf('a', 0), logProbs: (await engine.forward([sampleRow]))[0]! }];
    const options = { ...grpoDefaults, learningRate: 0.05, kl };
    await updatePolicy({ engine, samples, options, seed: 1, step: 2, reference });
    expect(engine.weights.flat()[1]).toBeLessThan(moved[1]!);
    await engine.loadState(reference);
    expect(engine.weights.flat().every((weight) => weight === 0)).toBe(true);
  });

  it('say that training diverged when the log probs are no numbers', async () => {
    const run = trained({ loss: 'gspo', learningRate: Number.POSITIVE_INFINITY });
    await expect(run).rejects.toMatchObject({ code: 'training_diverged' });
  });
});
