import { expect, it } from 'vitest';
import { loadBackend } from '../host/backend.ts';
import { initParameters, type ModelConfig, parameterShapes } from '../model/index.ts';
import { seededUniform } from '../model/random.ts';
import { randomRows } from '../testing/random-rows.ts';
import { parameterTensors } from './parameter-tensors.ts';
import { TrainSession } from './train-session.ts';

const config: ModelConfig = {
  vocabularySize: 50,
  hiddenSize: 16,
  layers: 1,
  heads: 2,
  kvHeads: 1,
  headSize: 8,
  intermediateSize: 24,
  normEps: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxTokens: 80,
};

it('gives the same loss and gradients when logits exist a few rows at a time', async () => {
  const { ort, sessionOptions } = await loadBackend({ threads: 1 });
  const parameters = parameterTensors(ort, parameterShapes(config), initParameters(config, 3));
  const rows = randomRows({ lengths: [17, 12], vocabularySize: 50, random: seededUniform(2) });
  const run = async (headChunkRows: number) => {
    const graph = { config, batch: 2, length: 16, purpose: 'clipped_policy_gradient' as const, headChunkRows };
    const session = await TrainSession.create(graph, { ort, parameters, sessionOptions });
    const gradients = new Map<string, Float32Array>();
    const result = await session.run(
      rows,
      {
        purpose: graph.purpose,
        checkCancelled: () => undefined,
        loss: { name: graph.purpose, clipLow: 0.2, clipHigh: 0.2 },
      },
      { add: (name, values) => gradients.set(name, values), addEmbeddingRows: () => undefined },
    );
    await session.release();
    return { ...result, gradients };
  };
  const whole = await run(32);
  const chunked = await run(7);
  expect(chunked.loss).toBeCloseTo(whole.loss, 6);
  expect(chunked.logProbs).toEqual(whole.logProbs);
  chunked.gradients.forEach((gradient, name) => {
    gradient.forEach((value, i) => {
      expect(value, name).toBeCloseTo(whole.gradients.get(name)![i]!, 5);
    });
  });
});
