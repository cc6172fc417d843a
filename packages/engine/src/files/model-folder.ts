import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../errors.ts';
import type { ModelConfig } from '../model/index.ts';
import { recoverFolder, writeFolderAtomic } from './atomic.ts';
import { eosField, readConfig, writeConfig } from './config-json.ts';
import { readParameters, writableTensors } from './model-weights.ts';
import { writeSafetensors } from './safetensors-writer.ts';
import type { StoredModel } from './stored-model.ts';
import { readJsonObject, readOptionalJsonObject } from './text-file.ts';
import { readTokenizerFiles } from './tokenizer-files.ts';

export interface SaveModelOptions {
  /** Of the weights on disk. Default float32. */
  dtype?: 'float32' | 'bfloat16';
}

/**
 * Loads and checks a whole model folder; nothing is returned unless all of it fits together.
 *
 * @throws {EngineError} `file_missing`, `json_invalid`, `model_unsupported`, `model_config_invalid`, `weights_missing`,
 *   `safetensors_invalid`, `tensor_missing`, `tensor_unexpected`, `tensor_shape_mismatch`, `weights_not_finite`,
 *   `vocabulary_mismatch`; each names file, tensor or field and what to do
 */
export async function loadModelFolder(folder: string): Promise<StoredModel> {
  await recoverFolder(folder);
  const path = join(folder, 'config.json');
  const json = await readJsonObject(path);
  const config = readConfig(json, path);
  const generation = (await readOptionalJsonObject(join(folder, 'generation_config.json'))) ?? {};
  const { files, size, eosId } = await readTokenizerFiles(folder);
  if (size > config.vocabularySize) throw vocabularyMismatch(folder, size, config.vocabularySize);
  const parameters = await readParameters(folder, config);
  const declared = idList(generation.eos_token_id ?? json.eos_token_id);
  return { config, parameters, tokenizerFiles: files, eosIds: [...new Set([...declared, ...idList(eosId)])] };
}

/**
 * The configuration alone, before anything large is read.
 *
 * @throws {EngineError} `file_missing`, `json_invalid`, `model_unsupported`, `model_config_invalid`
 */
export async function readModelConfig(folder: string): Promise<ModelConfig> {
  await recoverFolder(folder);
  const path = join(folder, 'config.json');
  return readConfig(await readJsonObject(path), path);
}

/**
 * Writes a model folder atomically, so that `loadModelFolder` and transformers read it.
 *
 * @throws {EngineError} `disk_full`, `path_not_writable`, `write_failed`, `tensor_missing`, `weights_not_finite`
 */
export async function saveModelFolder(
  folder: string,
  model: StoredModel,
  options: SaveModelOptions = {},
): Promise<void> {
  const { config, parameters, tokenizerFiles, eosIds } = model;
  const { dtype = 'float32' } = options;
  const tensors = writableTensors(config, parameters);
  await writeFolderAtomic(folder, async (staging) => {
    const write = (name: string, json: object) => writeFile(join(staging, name), `${JSON.stringify(json, null, 2)}\n`);
    await write('config.json', writeConfig(config, dtype, eosIds));
    await write('generation_config.json', { eos_token_id: eosField(eosIds) });
    for (const [name, content] of tokenizerFiles) await writeFile(join(staging, name), content);
    await writeSafetensors(join(staging, 'model.safetensors'), tensors, {
      dtype: dtype === 'float32' ? 'F32' : 'BF16',
      metadata: { format: 'pt' }, // transformers refuses files without it
    });
  });
}

function idList(ids: unknown): number[] {
  const list: unknown[] = Array.isArray(ids) ? ids : [ids];
  return list.filter((id): id is number => Number.isSafeInteger(id));
}

function vocabularyMismatch(folder: string, tokenizerSize: number, vocabularySize: number): EngineError {
  return new EngineError({
    code: 'vocabulary_mismatch',
    message: `${folder}: tokenizer.json has ids up to ${tokenizerSize - 1}, but config.json says vocab_size ${vocabularySize}.`,
    hint: 'Use the tokenizer that belongs to the model, or enlarge the embedding (transformers: model.resize_token_embeddings).',
    category: 'user',
  });
}
