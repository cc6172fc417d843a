import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TinyFolder, writeTinyFolder } from '../testing/tiny-folder.ts';
import { createEmbeddedEngine } from './embedded-engine.ts';
import { createEmbeddedSampler } from './embedded-sampler.ts';

let folder: TinyFolder;
beforeAll(async () => {
  folder = await writeTinyFolder();
});
afterAll(() => rm(folder.root, { recursive: true, force: true }));

const request = (seed: number) => ({
  ...{ promptIds: Int32Array.from([3, 14, 25, 36]), maxTokens: 20, seed },
  ...{ temperature: 1, topP: 1, topK: 0, stopIds: [], stop: [] },
});

it('samples to the bit what an engine samples before it is trained', async () => {
  const sampler = await createEmbeddedSampler({ folder: folder.model, threads: 1 });
  const engine = await createEmbeddedEngine({ folder: folder.model, threads: 1 });
  expect(sampler.info()).toEqual({ ...engine.info(), trainableParameters: 0, valueHead: undefined });
  for (const seed of [1, 2, 3]) expect(await sampler.sample(request(seed))).toEqual(await engine.sample(request(seed)));
  const rows = [{ tokenIds: Int32Array.from([3, 14, 25]), weights: Float32Array.from([0, 1, 1]) }];
  await engine.forwardBackward(rows, { name: 'cross_entropy' });
  await engine.optimStep({ learningRate: 0.1 });
  await engine.publish(1);
  const [{ logProbs: frozen }, { logProbs: trained }] = await Promise.all([
    sampler.sample(request(1)),
    engine.sample(request(1)),
  ]);
  expect(frozen).not.toEqual(trained);
  await Promise.all([engine.close(), sampler.close(), sampler.close()]);
});

it('says what is missing when the memory is too small', async () => {
  const wanting = createEmbeddedSampler({ folder: folder.model, threads: 1, memoryBytes: 2 ** 20 });
  await expect(wanting).rejects.toMatchObject({ code: 'memory_insufficient' });
});
