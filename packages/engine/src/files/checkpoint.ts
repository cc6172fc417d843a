import { access } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { EngineError } from '../errors.ts';
import type { ModelConfig } from '../model/index.ts';
import { openGgufCheckpoint, pointerName } from './gguf/index.ts';
import { openSafetensors } from './safetensors.ts';
import type { TensorReader } from './tensor-reader.ts';
import { isJsonObject, readJsonObject, readOptionalJsonObject } from './text-file.ts';

/** The weights of a model folder, in one file or in shards. */
export interface Checkpoint {
  /** `model.safetensors` or the index of the shards, for messages. */
  readonly file: string;
  readonly tensors: ReadonlyMap<string, { shape: readonly number[]; reader: TensorReader }>;
  close(): Promise<void>;
}

const singleName = 'model.safetensors';
const indexName = 'model.safetensors.index.json';

/**
 * Opens `model.safetensors`, or the shards that `model.safetensors.index.json` lists, or the GGUF file that `weights.json` names.
 *
 * @throws {EngineError} `weights_missing`, `shard_index_invalid`, `tensor_missing`, and what `openSafetensors` throws
 */
export async function openCheckpoint(folder: string, config: ModelConfig): Promise<Checkpoint> {
  const single = join(folder, singleName);
  if (await exists(single)) return together(single, [await openSafetensors(single)]);
  const index = join(folder, indexName);
  const { gguf } = (await readOptionalJsonObject(join(folder, pointerName))) ?? {};
  if (typeof gguf === 'string') return together(gguf, [await openGgufCheckpoint(gguf, config)]);
  if (!(await exists(index))) throw weightsMissing(folder);
  const shardOf = await readShardIndex(index);
  const readers = new Map<string, TensorReader>();
  try {
    for (const [tensor, shard] of shardOf) {
      const reader = readers.get(shard) ?? (await openSafetensors(join(folder, shard)));
      readers.set(shard, reader);
      if (!reader.tensors.has(tensor)) throw notInShard(index, tensor, shard);
    }
  } catch (error) {
    await closeAll(readers.values());
    throw error;
  }
  return together(index, [...readers.values()]);
}

function together(file: string, readers: TensorReader[]): Checkpoint {
  const tensors: Checkpoint['tensors'] = new Map(
    readers.flatMap((reader) => [...reader.tensors].map(([name, { shape }]) => [name, { shape, reader }] as const)),
  );
  return { file, tensors, close: () => closeAll(readers) };
}

async function closeAll(readers: Iterable<TensorReader>): Promise<void> {
  for (const reader of readers) await reader.close();
}

async function readShardIndex(path: string): Promise<Map<string, string>> {
  const { weight_map: weightMap } = await readJsonObject(path);
  if (!isJsonObject(weightMap)) throw indexInvalid(path, 'has no "weight_map" that maps tensors to files.');
  const shardOf = new Map<string, string>();
  for (const [tensor, shard] of Object.entries(weightMap)) {
    // A shard is a file of the same folder; a path would let a downloaded index open any file.
    if (typeof shard !== 'string' || shard === '' || shard !== basename(shard) || shard.includes('\\'))
      throw indexInvalid(path, `maps tensor "${tensor}" to ${JSON.stringify(shard)}, which is not a file name.`);
    shardOf.set(tensor, shard);
  }
  if (shardOf.size === 0) throw indexInvalid(path, 'lists no tensor.');
  return shardOf;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function weightsMissing(folder: string): EngineError {
  return new EngineError({
    code: 'weights_missing',
    message: `${folder} has neither ${singleName} nor ${indexName}.`,
    hint: 'Copy the weights into the folder; convert other formats with transformers: model.save_pretrained(folder).',
    category: 'user',
  });
}

function indexInvalid(path: string, problem: string): EngineError {
  return new EngineError({
    code: 'shard_index_invalid',
    message: `${path} ${problem}`,
    hint: 'Copy or download the index again together with its shards.',
    category: 'user',
  });
}

function notInShard(index: string, tensor: string, shard: string): EngineError {
  return new EngineError({
    code: 'tensor_missing',
    message: `${index} says that ${shard} holds tensor "${tensor}", but it does not.`,
    hint: 'Copy or download the index and the shards again; they come from different exports.',
    category: 'user',
  });
}
