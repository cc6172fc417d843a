import { describe, expect, it } from 'vitest';
import type { LossSpec } from '../../contract.ts';
import { loadBackend } from '../../host/backend.ts';
import { initLora, initParameters, type ModelConfig, projections } from '../../model/index.ts';
import { seededUniform } from '../../model/random.ts';
import { randomRows } from '../../testing/random-rows.ts';
import { Trainer } from '../trainer.ts';
import { blockArrays, blockCount, layOut } from './layout.ts';

const { ort, sessionOptions } = await loadBackend({ threads: 2 });
const config: ModelConfig = {
  vocabularySize: 50,
  hiddenSize: 16,
  layers: 3,
  heads: 4,
  kvHeads: 2,
  headSize: 6,
  intermediateSize: 24,
  normEps: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxTokens: 1400,
};
const sliding: ModelConfig = {
  ...config,
  slidingWindow: { tokens: 100, layers: [true, false, true], ropeTheta: 500 },
  attentionSoftCap: 20,
  logitSoftCap: 30,
  outputNorms: true,
  embeddingScale: 3,
};
const loss: LossSpec = { name: 'clipped_policy_gradient', clipLow: 0.2, clipHigh: 0.2 };
/** The longest is cut into four blocks. */
const mixed = randomRows({ lengths: [521, 290, 40, 130, 2, 1], vocabularySize: 50, random: seededUniform(4) });

async function train(model: ModelConfig, layered: boolean, useLora: boolean, times = 1, rows = mixed) {
  const lora = { rank: 3, alpha: 6, targets: projections };
  const adapters = useLora ? { lora: { config: lora, adapters: initLora(model, lora, 4) } } : {};
  const parameters = initParameters(model, 3);
  const trainer = new Trainer({ ort, config: model, parameters, sessionOptions, layered, ...adapters });
  for (const [name, values] of trainer.trainable) {
    if (name.includes('lora_B')) values.set(values.map((_, i) => 0.05 * Math.sin(i)));
  }
  let result = await trainer.forwardBackward(rows, loss);
  for (let time = 1; time < times; time++) {
    await trainer.optimStep({ learningRate: 0.01 });
    result = await trainer.forwardBackward(rows, loss);
  }
  await trainer.optimStep({ learningRate: 0, beta1: 0 }); // leaves the gradients as first moments
  const gradients = new Map([...trainer.optimizerState().moments].map(([name, { first }]) => [name, first.slice()]));
  await trainer.close();
  return { ...result, gradients };
}

describe('a pass layer by layer', () => {
  it.each([
    { name: 'all weights', model: config, lora: false },
    { name: 'adapters', model: config, lora: true },
    { name: 'windows and soft caps', model: sliding, lora: false },
  ])(
    'gives the numbers of one graph of all layers for long rows: $name',
    async ({ model, lora }) => {
      const [actual, expected] = [await train(model, true, lora), await train(model, false, lora)];
      expect(Math.abs(actual.loss - expected.loss)).toBeLessThan(1e-5 * Math.abs(expected.loss));
      actual.logProbs.forEach((row, index) => {
        expect(furthest(row, expected.logProbs[index]!)).toBeLessThan(1e-5);
      });
      expect([...actual.gradients.keys()].sort()).toEqual([...expected.gradients.keys()].sort());
      for (const [name, gradient] of expected.gradients) {
        expect(relativeDistance(actual.gradients.get(name)!, gradient), name).toBeLessThan(1e-5);
      }
    },
    60_000,
  );

  it('takes more tokens at once than any of its rows has positions', async () => {
    const many = randomRows({ lengths: Array(30).fill(25), vocabularySize: 50, random: seededUniform(5) });
    const [actual, expected] = [await train(config, true, true, 1, many), await train(config, false, true, 1, many)];
    actual.logProbs.forEach((row, index) => {
      expect(furthest(row, expected.logProbs[index]!)).toBeLessThan(1e-5);
    });
    for (const [name, gradient] of expected.gradients)
      expect(relativeDistance(actual.gradients.get(name)!, gradient), name).toBeLessThan(1e-5);
  }, 60_000);

  it('gives the same bits each time, over several steps', async () => {
    const [once, again] = [await train(config, true, true, 3), await train(config, true, true, 3)];
    expect(again).toEqual(once);
  }, 60_000);
});

describe('layOut', () => {
  it('has a slot for every token, and empty ones behind shorter rows', () => {
    const layout = layOut([3, 1]);
    expect([...layout.positions]).toEqual([0n, 1n, 2n, 0n]);
    expect([...layout.slots]).toEqual([0n, 1n, 2n, 3n, 4n, 4n]);
    expect([...layout.slotOf]).toEqual([0n, 1n, 2n, 3n]);
    expect(layout.offsets).toEqual([0, 3]);
  });
});

describe('blocks', () => {
  it.each([
    [1, 1],
    [256, 1],
    [257, 2],
    [4096, 16],
    [8192, 16],
  ])('%i tokens are cut into %i', (width, blocks) => {
    expect(blockCount(width)).toBe(blocks);
  });

  it('cover all queries, and read no key before the window', () => {
    const arrays = blockArrays({ width: 10, blocks: 2, groupSize: 2, window: 3 });
    expect(arrays.queries_1).toEqual(BigInt64Array.of(5n));
    expect(arrays.queries_end_1).toEqual(BigInt64Array.of(10n));
    expect(arrays.keys_1).toEqual(BigInt64Array.of(3n));
    expect([...arrays.query_positions_1!]).toEqual([5, 6, 7, 8, 9, 5, 6, 7, 8, 9]);
    expect([...arrays.key_positions_1!]).toEqual([3, 4, 5, 6, 7, 8, 9]);
  });
});

function furthest(actual: Float32Array, expected: ArrayLike<number>): number {
  return actual.reduce((most, value, index) => Math.max(most, Math.abs(value - expected[index]!)), 0);
}

function relativeDistance(actual: Float32Array, expected: Float32Array): number {
  const norm = (values: Float32Array) => Math.sqrt(values.reduce((all, value) => all + value * value, 0));
  return norm(actual.map((value, index) => value - expected[index]!)) / norm(expected);
}
