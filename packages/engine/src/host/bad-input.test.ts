import { cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TrainRow } from '../contract.ts';
import { loadModelFolder } from '../files/index.ts';
import { type TinyFolder, writeTinyFolder } from '../testing/tiny-folder.ts';
import { createEmbeddedEngine } from './embedded-engine.ts';

let good: TinyFolder;
let root: string;
beforeAll(async () => {
  good = await writeTinyFolder();
  root = await mkdtemp(join(tmpdir(), 'agl-bad-'));
});
afterAll(async () => {
  await Promise.all([good.root, root].map((folder) => rm(folder, { recursive: true, force: true })));
});

async function changeJson(path: string, change: Record<string, unknown>): Promise<void> {
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...change }));
}

/** Sets the last weight of the file. */
async function setWeight(path: string, value: number): Promise<void> {
  const bytes = await readFile(path);
  bytes.writeFloatLE(value, bytes.length - 4);
  await writeFile(path, bytes);
}

const weights = 'model.safetensors';
const cases: { name: string; code: string; message: RegExp; spoil: (folder: string) => Promise<void> }[] = [
  {
    name: 'a truncated file',
    code: 'safetensors_invalid',
    message: /model\.safetensors/,
    spoil: async (folder) => truncate(join(folder, weights), 5000),
  },
  {
    name: 'wrong shapes',
    code: 'tensor_shape_mismatch',
    message: /mlp\.\w+_proj\.weight/,
    spoil: async (folder) => changeJson(join(folder, 'config.json'), { intermediate_size: 48 }),
  },
  {
    name: 'an unknown architecture, with those that are supported',
    code: 'model_unsupported',
    message: /MambaForCausalLM.*LlamaForCausalLM/s,
    spoil: async (folder) =>
      changeJson(join(folder, 'config.json'), { architectures: ['MambaForCausalLM'], model_type: 'mamba' }),
  },
  {
    name: 'NaN weights',
    code: 'weights_not_finite',
    message: /NaN/,
    spoil: async (folder) => setWeight(join(folder, weights), Number.NaN),
  },
  {
    name: "a vocabulary that is not the tokenizer's",
    code: 'vocabulary_mismatch',
    message: /tokenizer\.json/,
    spoil: async (folder) => {
      const path = join(folder, 'tokenizer.json');
      const tokenizer = JSON.parse(await readFile(path, 'utf8'));
      tokenizer.added_tokens.push({ ...tokenizer.added_tokens[0], id: 300, content: '<|one too many|>' });
      await writeFile(path, JSON.stringify(tokenizer));
    },
  },
  {
    name: 'a tokenizer without a template',
    code: 'chat_template_missing',
    message: /chat_template\.jinja/,
    spoil: async (folder) => rm(join(folder, 'chat_template.jinja')),
  },
];

describe('an engine is not created from', () => {
  it.each(cases)(
    '$name',
    async ({ name, code, message, spoil }) => {
      const folder = join(root, name.replaceAll(/\W+/g, '-'));
      await cp(good.model, folder, { recursive: true });
      await spoil(folder);
      const created = createEmbeddedEngine({ folder, threads: 1 });
      await expect(created).rejects.toMatchObject({ code, category: 'user', hint: expect.any(String) });
      await expect(created).rejects.toThrow(message);
    },
    60_000,
  );

  it('a budget that it cannot keep, by figures and before the weights are read', async () => {
    const folder = join(root, 'small-budget');
    await cp(good.model, folder, { recursive: true });
    await truncate(join(folder, weights), 10); // would be another error
    const created = createEmbeddedEngine({ folder, threads: 1, memoryBytes: 2 ** 28 });
    await expect(created).rejects.toMatchObject({ code: 'memory_insufficient' });
    await expect(created).rejects.toThrow(/needs about 0\.4\d GiB of memory, but there are 0\.25 GiB/);
  }, 60_000);
});

describe('an engine with little memory', () => {
  it('refuses what would not fit, and works on', async () => {
    const big = await writeTinyFolder({ layers: 40, maxTokens: 60_000 });
    const engine = await createEmbeddedEngine({ folder: big.model, threads: 1, memoryBytes: 450 * 2 ** 20 });
    const row = (tokens: number): TrainRow => ({
      tokenIds: new Int32Array(tokens).fill(3),
      weights: new Float32Array(tokens).fill(1, 1),
    });
    const request = { temperature: 0, topP: 1, topK: 0, stopIds: [], stop: [], seed: 1, promptIds: Int32Array.of(5) };
    const refused = { code: 'memory_insufficient', category: 'user' };
    await expect(engine.forwardBackward([row(5), row(50_000)], { name: 'cross_entropy' })).rejects.toMatchObject(
      refused,
    );
    await expect(engine.sample({ ...request, maxTokens: 59_000 })).rejects.toMatchObject(refused);
    expect((await engine.sample({ ...request, maxTokens: 4 })).tokenIds).toHaveLength(4);
    await engine.forwardBackward([row(5)], { name: 'cross_entropy' });
    await engine.close();
    await rm(big.root, { recursive: true, force: true });
  }, 60_000);
});

it('the good folder is good', async () => {
  expect((await loadModelFolder(good.model)).config).toEqual(good.config);
});
