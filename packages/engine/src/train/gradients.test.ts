import { describe, expect, it } from 'vitest';
import type { LossSpec, TrainRow } from '../contract.ts';
import { loadBackend } from '../host/backend.ts';
import { initLora, initParameters, type LoraConfig, type ModelConfig, projections } from '../model/index.ts';
import { seededUniform } from '../model/random.ts';
import { referenceForwardBackward } from '../testing/float64-llama.ts';
import { randomRows } from '../testing/random-rows.ts';
import { Trainer } from './trainer.ts';

const config: ModelConfig = {
  vocabularySize: 67,
  hiddenSize: 32,
  layers: 3,
  heads: 4,
  kvHeads: 2,
  headSize: 10,
  intermediateSize: 72,
  normEps: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxTokens: 64,
};
const losses: LossSpec[] = [
  { name: 'cross_entropy' },
  { name: 'clipped_policy_gradient', clipLow: 0.1, clipHigh: 0.25 },
];
const lora: LoraConfig = { rank: 3, alpha: 5, targets: projections };
const adapters = [undefined, lora];
const cases = losses.flatMap((loss) => [
  ...adapters.map((adapter) => ({ loss, adapter, tiedEmbeddings: true, kvHeads: 2, portable: false, layered: true })),
  { loss, adapter: undefined, tiedEmbeddings: false, kvHeads: 1, portable: true, layered: true },
  ...adapters.flatMap((adapter) => [
    { loss, adapter, tiedEmbeddings: true, kvHeads: 2, portable: false, layered: false },
    { loss, adapter, tiedEmbeddings: false, kvHeads: 1, portable: false, layered: false },
  ]),
  { loss, adapter: undefined, tiedEmbeddings: true, kvHeads: 4, portable: true, layered: false },
]);
const { ort, sessionOptions } = await loadBackend({ threads: 2 });

describe('gradients against the float64 reference, every tensor', () => {
  it.each(cases)(
    '$loss.name, tied: $tiedEmbeddings, LoRA: $adapter.rank, kvHeads: $kvHeads, portable: $portable, layered: $layered',
    async (options) => {
      const model = buildModel(
        { ...config, tiedEmbeddings: options.tiedEmbeddings, kvHeads: options.kvHeads },
        options.adapter,
      );
      const rows = rowsNear(model);
      const trainer = new Trainer({
        ort,
        ...model,
        sessionOptions,
        portable: options.portable,
        layered: options.layered,
      });
      const result = await trainer.forwardBackward(rows, options.loss);
      const expected = referenceForwardBackward(model, rows, options.loss);

      expect(Math.abs(result.loss - expected.loss)).toBeLessThan(1e-5 * Math.abs(expected.loss));
      result.logProbs.forEach((logProbs, row) => {
        expect(logProbs).toHaveLength(rows[row]!.tokenIds.length);
        logProbs.forEach((logProb, token) => {
          expect(Math.abs(logProb - expected.logProbs[row]![token]!)).toBeLessThan(5e-6);
        });
      });
      const gradients = await gatheredGradients(trainer);
      expect([...gradients.keys()].sort()).toEqual([...trainer.trainable.keys()].sort());
      for (const [name, gradient] of gradients) {
        expect(relativeDistance(gradient, expected.gradients.get(name)!), name).toBeLessThan(1e-5);
      }
      await trainer.close();
    },
  );
});

/** With β₁ = 0 the first moment is the gradient itself; with a learning rate of 0 the weights stay. */
async function gatheredGradients(trainer: Trainer): Promise<Map<string, Float32Array>> {
  await trainer.optimStep({ learningRate: 0, beta1: 0 });
  return new Map([...trainer.optimizerState().moments].map(([name, { first }]) => [name, first]));
}

function buildModel(shape: ModelConfig, adapter: LoraConfig | undefined) {
  const random = seededUniform(5);
  const parameters = initParameters(shape, 3);
  for (const [name, values] of parameters) {
    if (name.includes('norm')) for (let i = 0; i < values.length; i++) values[i]! += 0.4 * (random() - 0.5);
  }
  if (adapter === undefined) return { config: shape, parameters };
  const adapters = initLora(shape, adapter, 4);
  for (const [name, values] of adapters) {
    if (name.includes('lora_B')) for (let i = 0; i < values.length; i++) values[i]! += 0.1 * (random() - 0.5);
  }
  return { config: shape, parameters, lora: { config: adapter, adapters } };
}

/** Rows of mixed length whose behaviour log probs lie around the model's own, inside and outside of the clip bounds. */
function rowsNear(model: ReturnType<typeof buildModel>): TrainRow[] {
  const options = { lengths: [17, 2, 40, 1, 33], vocabularySize: model.config.vocabularySize };
  const drafts = randomRows({ ...options, random: seededUniform(6) });
  const { logProbs } = referenceForwardBackward(model, drafts, { name: 'cross_entropy' });
  return randomRows({ ...options, random: seededUniform(6), currentLogProbs: logProbs });
}

function relativeDistance(actual: Float32Array, expected: Float64Array): number {
  let difference = 0;
  let size = 0;
  for (let i = 0; i < expected.length; i++) {
    difference += (actual[i]! - expected[i]!) ** 2;
    size += expected[i]! ** 2;
  }
  return Math.sqrt(difference / size);
}
