import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { loadModelFolder, readSafetensors, type StoredModel, saveModelFolder } from '../files/index.ts';
import { storedTensors, unpack } from '../files/stored-tensors.ts';
import { loadBackend } from '../host/backend.ts';
import { Sampler } from '../sample/index.ts';
import { Trainer } from './trainer.ts';

/** Made by scripts/vectors/families.py: what transformers computes in float64 with its own models. */
const vectors = fileURLToPath(new URL('../../vectors/', import.meta.url));
const root = await mkdtemp(join(tmpdir(), 'agl-families-'));
afterAll(() => rm(root, { recursive: true }));
const { ort, sessionOptions } = await loadBackend({ threads: 1 });

describe.each(['mistral', 'qwen2', 'qwen3', 'gemma2', 'gemma3_text', 'phi3'])('%s', (family) => {
  const folder = join(root, family);
  const load = async (): Promise<StoredModel> => {
    await cp(join(vectors, 'tokenizer'), folder, { recursive: true });
    await cp(join(vectors, 'families', family), folder, { recursive: true });
    return loadModelFolder(folder);
  };
  const expected = async () =>
    JSON.parse(await readFile(join(vectors, 'families', family, 'expected.json'), 'utf8')) as {
      ids: number[];
      logProbs: number[];
    };

  it.each([false, true])('has the log probs and gradients that transformers computes, layered: %s', async (layered) => {
    const { config, parameters } = await load();
    const { ids, logProbs } = await expected();
    const trainer = new Trainer({ ort, config, parameters, sessionOptions, layered });
    const row = { tokenIds: Int32Array.from(ids), weights: new Float32Array(ids.length).fill(1, 1) };
    const result = await trainer.forwardBackward([row], { name: 'cross_entropy' });
    expect(furthest(result.logProbs[0]!.subarray(1), logProbs)).toBeLessThan(2e-5);
    expect(Math.min(...logProbs)).toBeLessThan(-5); // far from flat
    await trainer.optimStep({ learningRate: 0, beta1: 0 }); // leaves the gradients as first moments
    const { moments } = trainer.optimizerState();
    const { tensors } = await readSafetensors(join(vectors, 'families', family, 'gradients.safetensors'));
    const compared = new Set<string>();
    for (const [name, stored] of storedTensors(config)) {
      for (const [parameter, gradient] of unpack({ ...stored, minusOne: false }, tensors.get(name)!.data)) {
        expect(relativeDistance(moments.get(parameter)!.first, gradient), parameter).toBeLessThan(3e-5);
        compared.add(parameter);
      }
    }
    expect([...compared].sort()).toEqual([...parameters.keys()].sort());
    await trainer.close();
  });

  it('is sampled from with the log probs that it is trained with, across prompt pieces and steps', async () => {
    const { config, parameters } = await load();
    const { ids } = await expected();
    const limits = { prefillWidth: 7 }; // so that a prompt is read in three runs, beyond the window
    const sampler = await Sampler.create({
      ort,
      config,
      weights: parameters,
      version: 0,
      slots: 2,
      sessionOptions,
      limits,
    });
    const request = { maxTokens: 12, temperature: 1, topP: 1, topK: 0, stopIds: [], stop: [], seed: 3 };
    const answer = await sampler.sample({ ...request, promptIds: Int32Array.from(ids) });
    const trainer = new Trainer({ ort, config, parameters, sessionOptions });
    const tokenIds = Int32Array.from([...ids, ...answer.tokenIds]);
    const [logProbs] = await trainer.forward([{ tokenIds, weights: new Float32Array(tokenIds.length) }]);
    expect(answer.tokenIds).toHaveLength(12);
    expect(furthest(answer.logProbs, logProbs!.subarray(ids.length))).toBeLessThan(1e-5);
    await Promise.all([trainer.close(), sampler.close()]);
  });

  it('is saved as it was read', async () => {
    const model = await load();
    const copy = join(root, `${family}-copy`);
    await saveModelFolder(copy, model);
    const again = await loadModelFolder(copy);
    expect(again.config).toEqual(model.config);
    for (const [name, values] of model.parameters) expect(again.parameters.get(name), name).toEqual(values);
  });
});

function furthest(actual: Float32Array, expected: ArrayLike<number>): number {
  return actual.reduce((most, value, index) => Math.max(most, Math.abs(value - expected[index]!)), 0);
}

function relativeDistance(actual: Float32Array, expected: Float32Array): number {
  const norm = (values: Float32Array) => Math.hypot(...values);
  return norm(actual.map((value, index) => value - expected[index]!)) / norm(expected);
}
