import { cp, mkdtemp, readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { initParameters, type ModelConfig } from '../model/index.ts';
import { loadModelFolder, saveModelFolder } from './model-folder.ts';
import { readSafetensors, type Tensor } from './safetensors.ts';
import { writeSafetensors } from './safetensors-writer.ts';
import type { StoredModel } from './stored-model.ts';

const tokenizerFolder = fileURLToPath(new URL('../../vectors/tokenizer/', import.meta.url));
const config: ModelConfig = {
  vocabularySize: 480,
  hiddenSize: 8,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 6,
  intermediateSize: 12,
  normEps: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxTokens: 128,
};

let root = '';
let model: StoredModel;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'agl-model-'));
  const names = ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'];
  const files = names.map(async (name) => [name, new Uint8Array(await readFile(join(tokenizerFolder, name)))] as const);
  const tokenizerFiles = new Map(await Promise.all(files));
  model = { config, parameters: initParameters(config, 1), tokenizerFiles, eosIds: [2] };
  await saveModelFolder(join(root, 'good'), model);
});
afterAll(() => rm(root, { recursive: true }));

describe('a model folder', () => {
  it.each([true, false])('comes back as it was saved, tied head: %s', async (tiedEmbeddings) => {
    const untied = { ...config, tiedEmbeddings };
    const saved = { ...model, config: untied, parameters: initParameters(untied, 2) };
    await saveModelFolder(join(root, 'again'), saved);
    const loaded = await loadModelFolder(join(root, 'again'));
    expect(loaded.config).toEqual(untied);
    expect(loaded.eosIds).toEqual([2]);
    expect(new Map([...loaded.parameters].sort())).toEqual(new Map([...saved.parameters].sort()));
    for (const [name, content] of model.tokenizerFiles)
      expect(Buffer.compare(loaded.tokenizerFiles.get(name)!, content)).toBe(0);
  });

  it('holds linear layers as [out, in] and the embedding as [vocabulary, hidden]', async () => {
    const { tensors, metadata } = await readSafetensors(join(root, 'good', 'model.safetensors'));
    expect(metadata.format).toBe('pt');
    const name = 'model.layers.1.mlp.down_proj.weight';
    const inMemory = model.parameters.get(name)!; // [12, 8]
    expect(tensors.get(name)!.shape).toEqual([8, 12]);
    expect(tensors.get(name)!.data[3 * 12 + 5]).toBe(inMemory[5 * 8 + 3]);
    const embedding = tensors.get('model.embed_tokens.weight')!;
    expect(embedding.shape).toEqual([480, 8]);
    expect(embedding.data).toEqual(model.parameters.get('model.embed_tokens.weight'));
    expect(tensors.has('lm_head.weight')).toBe(false);
  });

  it('in bfloat16 is within half a step of the weights', async () => {
    await saveModelFolder(join(root, 'half'), model, { dtype: 'bfloat16' });
    const loaded = await loadModelFolder(join(root, 'half'));
    for (const [name, values] of model.parameters) {
      const back = loaded.parameters.get(name)!;
      expect(values.every((value, i) => Math.abs(back[i]! - value) <= Math.abs(value) * 2 ** -8)).toBe(true);
    }
    expect(JSON.parse(await readFile(join(root, 'half', 'config.json'), 'utf8'))).toMatchObject({
      torch_dtype: 'bfloat16',
    });
  });

  it('may have its weights in shards', async () => {
    const folder = join(root, 'shards');
    await cp(join(root, 'good'), folder, { recursive: true });
    const entries = [...(await readSafetensors(join(folder, 'model.safetensors'))).tensors];
    const shards = { 'a.safetensors': entries.slice(0, 5), 'b.safetensors': entries.slice(5) };
    for (const [file, part] of Object.entries(shards)) await writeSafetensors(join(folder, file), new Map(part));
    await unlink(join(folder, 'model.safetensors'));
    const map = Object.entries(shards).flatMap(([file, part]) => part.map(([name]) => [name, file] as const));
    const index = (weightMap: object) =>
      writeFile(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map: weightMap }));
    await index(Object.fromEntries(map));
    expect((await loadModelFolder(folder)).parameters.size).toBe(entries.length);
    await index({ ...Object.fromEntries(map), [entries[0]![0]]: 'b.safetensors' });
    await expect(loadModelFolder(folder)).rejects.toMatchObject({ code: 'tensor_missing' });
    await index({ x: '../good/model.safetensors' });
    await expect(loadModelFolder(folder)).rejects.toMatchObject({ code: 'shard_index_invalid' });
    await index({ x: 'c.safetensors' });
    await expect(loadModelFolder(folder)).rejects.toMatchObject({ code: 'file_missing' });
  });
});

describe('a broken model folder', () => {
  let folder = '';
  beforeEach(async () => {
    folder = join(root, 'broken');
    await rm(folder, { recursive: true, force: true });
    await cp(join(root, 'good'), folder, { recursive: true });
  });

  async function failure(): Promise<EngineError> {
    const error = await loadModelFolder(folder).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EngineError);
    expect((error as EngineError).category).toBe('user');
    expect((error as EngineError).hint).toBeTruthy();
    expect((error as EngineError).message).toContain(folder);
    return error as EngineError;
  }

  async function changeJson(name: string, changes: object): Promise<void> {
    const json = JSON.parse(await readFile(join(folder, name), 'utf8')) as object;
    await writeFile(join(folder, name), JSON.stringify({ ...json, ...changes }));
  }

  async function changeTensors(change: (tensors: Map<string, Tensor>) => void): Promise<void> {
    const path = join(folder, 'model.safetensors');
    const { tensors } = await readSafetensors(path);
    change(tensors);
    await writeSafetensors(path, tensors);
  }

  it.each(['config.json', 'tokenizer.json'])('without %s', async (name) => {
    await unlink(join(folder, name));
    expect(await failure()).toMatchObject({ code: 'file_missing', message: `${join(folder, name)} does not exist.` });
  });

  it('without weights', async () => {
    await unlink(join(folder, 'model.safetensors'));
    expect(await failure()).toMatchObject({ code: 'weights_missing' });
  });

  const unsupported: [object, string][] = [
    [
      { architectures: ['GPT2LMHeadModel'] },
      'architectures is ["GPT2LMHeadModel"]; supported is LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM, Gemma2ForCausalLM, Gemma3ForCausalLM, Phi3ForCausalLM',
    ],
    [{ architectures: null, model_type: 'gpt2' }, 'model_type is "gpt2"; supported is llama, '],
    [{ hidden_act: 'gelu' }, 'hidden_act is "gelu"; supported is "silu"'],
    [{ attention_bias: true }, 'attention_bias is true; supported is false'],
    [{ mlp_bias: true }, 'mlp_bias is true'],
    [
      { rope_scaling: { rope_type: 'spiral', factor: 8 } },
      'rope_scaling is {"rope_type":"spiral","factor":8}; supported is a rope_type of default, linear,',
    ],
    [{ rope_scaling: { factor: 2 } }, 'rope_scaling is'],
    [{ quantization_config: { bits: 4 } }, 'quantization_config is {"bits":4}'],
    [{ partial_rotary_factor: 'half' }, 'partial_rotary_factor is "half"'],
  ];
  it.each(unsupported)('with %o', async (changes, message) => {
    await changeJson('config.json', changes);
    expect(await failure()).toMatchObject({
      code: 'model_unsupported',
      message: expect.stringContaining(message) as string,
    });
  });

  const invalid: [object, string][] = [
    [{ hidden_size: undefined }, 'hidden_size is missing'],
    [{ num_hidden_layers: 0 }, 'num_hidden_layers is 0'],
    [{ vocab_size: '480' }, 'vocab_size is "480"'],
    [{ num_key_value_heads: 3 }, 'heads (4) is not a multiple of kvHeads (3)'],
    [{ rms_norm_eps: -1 }, 'rms_norm_eps is -1'],
    [{ rope_theta: 'big' }, 'rope_theta is "big"'],
    [{ rope_scaling: { rope_type: 'llama3', factor: 8 } }, 'rope_scaling: low_freq_factor is undefined'],
    [{ partial_rotary_factor: 0.5 }, 'rotarySize (3) is not an even number between 2 and headSize (6)'],
  ];
  it.each(invalid)('with %o', async (changes, message) => {
    await changeJson('config.json', changes);
    expect(await failure()).toMatchObject({
      code: 'model_config_invalid',
      message: expect.stringContaining(message) as string,
    });
  });

  it('with a configuration of another shape', async () => {
    await changeJson('config.json', { intermediate_size: 16 });
    expect(await failure()).toMatchObject({
      code: 'tensor_shape_mismatch',
      message: `${join(folder, 'model.safetensors')}: tensor "model.layers.0.mlp.gate_proj.weight" has shape [12, 8], but config.json asks for [16, 8].`,
    });
  });

  it('with more or fewer layers than the configuration', async () => {
    await changeJson('config.json', { num_hidden_layers: 3 });
    expect(await failure()).toMatchObject({
      code: 'tensor_missing',
      message: expect.stringContaining('model.layers.2.') as string,
    });
    await changeJson('config.json', { num_hidden_layers: 1 });
    expect(await failure()).toMatchObject({
      code: 'tensor_unexpected',
      message: expect.stringContaining('model.layers.1.') as string,
    });
  });

  it('with an untied head that is not there', async () => {
    await changeJson('config.json', { tie_word_embeddings: false });
    expect(await failure()).toMatchObject({
      code: 'tensor_missing',
      message: expect.stringContaining('"lm_head.weight"') as string,
      hint: expect.stringContaining('tie_word_embeddings') as string,
    });
  });

  it.each([NaN, Infinity])('with a weight of %s', async (value) => {
    await changeTensors((tensors) => {
      tensors.get('model.norm.weight')!.data[3] = value;
    });
    expect(await failure()).toMatchObject({
      code: 'weights_not_finite',
      message: expect.stringContaining(`"model.norm.weight" holds ${value} at position 3`) as string,
    });
  });

  it('with a tokenizer that is larger than the embedding', async () => {
    await changeJson('config.json', { vocab_size: 470 });
    expect(await failure()).toMatchObject({
      code: 'vocabulary_mismatch',
      message: `${folder}: tokenizer.json has ids up to 479, but config.json says vocab_size 470.`,
    });
  });
});

describe('what older and newer files say differently', () => {
  it.each([
    [{ rope_theta: undefined, rope_parameters: { rope_type: 'default', rope_theta: 5e5 } }, { ropeTheta: 5e5 }],
    [{ rope_theta: 1e5, rope_scaling: { type: 'default' } }, { ropeTheta: 1e5 }],
    [
      { rope_theta: undefined, max_position_embeddings: undefined },
      { ropeTheta: 10_000, maxTokens: 2048 },
    ],
    [{ architectures: undefined, model_type: 'llama', attention_bias: undefined, hidden_act: undefined }, {}],
    [{ rms_norm_eps: undefined }, { normEps: 1e-6 }],
  ])('%o is understood', async (changes, expected) => {
    const folder = join(root, 'other');
    await cp(join(root, 'good'), folder, { recursive: true });
    const json = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as object;
    await writeFile(join(folder, 'config.json'), JSON.stringify({ ...json, ...changes }));
    expect((await loadModelFolder(folder)).config).toEqual({ ...config, ...expected });
  });

  it('takes the ids that end an answer from all places that name them', async () => {
    const folder = join(root, 'other');
    await writeFile(join(folder, 'generation_config.json'), JSON.stringify({ eos_token_id: [4, 5] }));
    expect((await loadModelFolder(folder)).eosIds).toEqual([4, 5, 2]);
    await unlink(join(folder, 'generation_config.json'));
    expect((await loadModelFolder(folder)).eosIds).toEqual([2]);
  });

  it('ignores tensors that only repeat others', async () => {
    const folder = join(root, 'other');
    const path = join(folder, 'model.safetensors');
    const { tensors } = await readSafetensors(path);
    tensors.set('lm_head.weight', tensors.get('model.embed_tokens.weight')!);
    tensors.set('model.layers.0.self_attn.rotary_emb.inv_freq', { shape: [3], data: new Float32Array(3) });
    await writeSafetensors(path, tensors);
    expect((await loadModelFolder(folder)).parameters.has('lm_head.weight')).toBe(false);
  });
});

describe('saveModelFolder', () => {
  it('refuses weights that are not finite or not there, and leaves no trace', async () => {
    const before = await readdir(root);
    const broken = new Map(model.parameters);
    broken.set('model.norm.weight', new Float32Array(8).fill(NaN));
    const save = (parameters: Map<string, Float32Array>) =>
      saveModelFolder(join(root, 'new'), { ...model, parameters });
    await expect(save(broken)).rejects.toMatchObject({ code: 'weights_not_finite' });
    broken.delete('model.norm.weight');
    await expect(save(broken)).rejects.toMatchObject({ code: 'tensor_missing' });
    expect(await readdir(root)).toEqual(before);
  });
});
