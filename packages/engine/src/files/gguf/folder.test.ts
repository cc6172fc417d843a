import { copyFile, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { ChatTemplate, loadTokenizer } from '../../text/index.ts';
import { loadModelFolder } from '../index.ts';
import { modelFolder } from '../model-source.ts';

const vectors = fileURLToPath(new URL('../../../vectors/', import.meta.url));
const root = await mkdtemp(join(tmpdir(), 'agl-gguf-'));
const cacheFolder = join(root, 'cache');
afterAll(() => rm(root, { recursive: true }));

/** The GGUF files were written by scripts/vectors/gguf_file.py from these folders, with llama.cpp's names and row order. */
describe.each([
  ['llama', 'llama-bfloat16'],
  ['gemma3', 'families/gemma3_text'],
])('a GGUF file of %s', (name, source) => {
  const open = () => modelFolder(join(vectors, 'gguf', `${name}.gguf`), { cacheFolder });

  it('is the model that it was made from', async () => {
    const copy = join(root, source);
    await mkdir(copy, { recursive: true });
    for (const file of ['tokenizer.json', 'tokenizer_config.json'])
      await copyFile(join(vectors, 'tokenizer', file), join(copy, file));
    for (const file of ['config.json', 'generation_config.json', 'model.safetensors'])
      await copyFile(join(vectors, source, file), join(copy, file));
    const [ours, original] = [await loadModelFolder(await open()), await loadModelFolder(copy)];
    expect(ours.eosIds).toEqual(original.eosIds);
    const { slidingWindow, attentionScale, ...config } = original.config;
    expect(ours.config).toMatchObject(config);
    expect(ours.config.attentionScale).toBe(attentionScale && 8 ** -0.5); // a file does not hold it; it follows from the sizes
    expect(ours.config.slidingWindow?.tokens).toBe(slidingWindow?.tokens);
    for (const [parameter, values] of original.parameters)
      expect(ours.parameters.get(parameter), parameter).toEqual(values);
  });

  it('brings its tokenizer and template along', async () => {
    const [ours, original] = [await open(), join(vectors, 'tokenizer')];
    const text = 'Mia has 12 apples, <|im_start|>buys 7 — naïve “quotes”\n\n  日本 👩‍🚀\u0085\ufeff';
    expect([...(await loadTokenizer(ours)).encode(text)]).toEqual([...(await loadTokenizer(original)).encode(text)]);
    const request = { messages: [{ role: 'user', content: 'Hi' }], addGenerationPrompt: true } as const;
    expect((await ChatTemplate.load(ours)).render(request)).toBe((await ChatTemplate.load(original)).render(request));
  });
});

describe('the folder of a GGUF file', () => {
  it('is made once, and anew when the file has changed', async () => {
    const file = join(root, 'changing.gguf');
    await copyFile(join(vectors, 'gguf', 'llama.gguf'), file);
    const first = await modelFolder(file, { cacheFolder });
    expect(await modelFolder(file, { cacheFolder })).toBe(first);
    await utimes(file, 1, 1);
    expect(await modelFolder(file, { cacheFolder })).not.toBe(first);
  });

  it('says what is missing when the file has gone', async () => {
    const file = join(root, 'going.gguf');
    await copyFile(join(vectors, 'gguf', 'llama.gguf'), file);
    const folder = await modelFolder(file, { cacheFolder });
    await rm(file);
    await expect(loadModelFolder(folder)).rejects.toMatchObject({
      code: 'file_missing',
      message: `${file} does not exist.`,
    });
  });

  it.each([
    ['llama', 'sesame', 'its architecture is "sesame"; supported is llama, qwen2, qwen3, gemma2, gemma3, phi3'],
    ['smollm', 'sesame', 'its text is cut as "sesame" says; supported is gpt-2, llama-bpe,'],
    ['gpt2', 'bert', 'its tokenizer is of the kind "bert"; supported is "gpt2" and "llama"'],
  ])('is refused with %s changed to %s', async (from, to, message) => {
    const bytes = await readFile(join(vectors, 'gguf', 'llama.gguf'));
    const at = bytes.indexOf(lengthAnd(from));
    const file = join(root, 'other.gguf');
    await writeFile(file, Buffer.concat([bytes.subarray(0, at), lengthAnd(to), bytes.subarray(at + 8 + from.length)]));
    await expect(modelFolder(file, { cacheFolder })).rejects.toMatchObject({
      code: 'model_unsupported',
      message: expect.stringContaining(message) as string,
    });
  });
});

function lengthAnd(text: string): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, Buffer.from(text)]);
}
