import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { initLora, projections } from '../model/index.ts';
import { ChatTemplate, loadTokenizer } from '../text/index.ts';
import { exportModel } from './export.ts';
import { writtenFormats } from './gguf/number-writers.ts';
import { loadModelFolder } from './model-folder.ts';
import { modelFolder } from './model-source.ts';
import { float16FromFloat32, float32FromFloat16 } from './number-formats.ts';
import { readSafetensors } from './safetensors.ts';

const vectors = fileURLToPath(new URL('../../vectors/', import.meta.url));
const root = await mkdtemp(join(tmpdir(), 'agl-export-'));
const cacheFolder = join(root, 'cache');
afterAll(() => rm(root, { recursive: true }));

async function stored(family: string) {
  const folder = join(root, family);
  await cp(join(vectors, 'tokenizer'), folder, { recursive: true });
  await cp(join(vectors, family === 'llama' ? 'llama-bfloat16' : `families/${family}`), folder, { recursive: true });
  return { folder, model: await loadModelFolder(folder) };
}

describe.each(['llama', 'qwen2', 'qwen3', 'gemma2', 'gemma3_text', 'phi3'])('%s as a GGUF file', (family) => {
  it('comes back, bit by bit in float32', async () => {
    const { folder, model } = await stored(family);
    const file = join(root, `${family}.gguf`);
    await exportModel(file, 'gguf-f32', { model, lora: undefined, base: '' });
    const again = await modelFolder(file, { cacheFolder });
    const loaded = await loadModelFolder(again);
    for (const [name, values] of model.parameters) expect(loaded.parameters.get(name), name).toEqual(values);
    expect(loaded.eosIds).toEqual(model.eosIds);
    const text = 'Mia has 12 apples <|im_end|> — ü\n';
    expect([...(await loadTokenizer(again)).encode(text)]).toEqual([...(await loadTokenizer(folder)).encode(text)]);
    const request = { messages: [{ role: 'user', content: 'Hi' }] } as const;
    expect((await ChatTemplate.load(again)).render(request)).toBe((await ChatTemplate.load(folder)).render(request));
  });
});

describe('numbers of a GGUF file', () => {
  it.each([
    ['gguf-f16', 2 ** -11],
    ['gguf-q8_0', 1 / 254 + 2 ** -11], // half a step, and the rounding of the scale
  ] as const)('%s are near the weights', async (form, nearness) => {
    const { model } = await stored('phi3'); // its rows are whole blocks
    const file = join(root, `${form}.gguf`);
    await exportModel(file, form, { model, lora: undefined, base: '' });
    const { parameters } = await loadModelFolder(await modelFolder(file, { cacheFolder }));
    for (const [name, values] of model.parameters) {
      const largest = Math.max(...values.map(Math.abs));
      const furthest = Math.max(...values.map((value, i) => Math.abs(value - parameters.get(name)![i]!)));
      expect(furthest, name).toBeLessThanOrEqual(largest * nearness);
    }
  });

  it('are quantised as the package gguf does it, byte by byte', async () => {
    const text = await readFile(join(vectors, 'gguf', 'quantised.json'), 'utf8');
    const { numbers, q8Zero } = JSON.parse(text) as { numbers: number[]; q8Zero: number[] };
    expect([...writtenFormats.Q8_0.encode(Float32Array.from(numbers))]).toEqual(q8Zero);
  });

  it('round to float16 as torch does', async () => {
    const { tensors } = await readSafetensors(join(vectors, 'float-types.safetensors'));
    const [full, half] = [tensors.get('f32')!.data, tensors.get('f16')!.data];
    expect(float32FromFloat16(float16FromFloat32(full))).toEqual(half);
    const ties = Float32Array.of(
      2 ** -25,
      3 * 2 ** -25,
      1 + 2 ** -11,
      1 + 3 * 2 ** -11,
      65519.9,
      65520,
      -(2 ** -24),
      NaN,
    );
    expect([...float32FromFloat16(float16FromFloat32(ties))]).toEqual([
      0,
      2 ** -23,
      1,
      1 + 2 ** -9,
      65504,
      Infinity,
      -(2 ** -24),
      NaN,
    ]);
  });
});

describe('adapters', () => {
  it('are written as PEFT names and turns them', async () => {
    const { model } = await stored('qwen3');
    const config = { rank: 3, alpha: 6, targets: projections };
    const adapters = initLora(model.config, config, 1);
    const folder = join(root, 'adapter');
    await exportModel(folder, 'adapter', { model, lora: { config, adapters }, base: 'some/base' });
    const { tensors } = await readSafetensors(join(folder, 'adapter_model.safetensors'));
    const name = 'model.layers.1.mlp.down_proj.lora_A.weight';
    const written = tensors.get(`base_model.model.${name}`)!;
    expect(written.shape).toEqual([3, 24]);
    expect(written.data[2 * 24 + 5]).toBe(adapters.get(name)![5 * 3 + 2]);
    expect(tensors.size).toBe(adapters.size);
    expect(JSON.parse(await readFile(join(folder, 'adapter_config.json'), 'utf8'))).toMatchObject({
      peft_type: 'LORA',
      r: 3,
      lora_alpha: 6,
      base_model_name_or_path: 'some/base',
    });
  });

  it('that are not there, or that PEFT has no place for, are refused', async () => {
    const { model } = await stored('phi3');
    const lora = { config: { rank: 1, alpha: 1, targets: projections }, adapters: new Map() };
    const target = join(root, 'no-adapter');
    await expect(exportModel(target, 'adapter', { model, lora, base: '' })).rejects.toMatchObject({
      code: 'adapter_unsupported',
    });
    await expect(exportModel(target, 'adapter', { model, lora: undefined, base: '' })).rejects.toMatchObject({
      code: 'adapter_missing',
    });
  });
});
