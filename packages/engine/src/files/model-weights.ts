import { EngineError } from '../errors.ts';
import { headName, type ModelConfig, type Parameters } from '../model/index.ts';
import { type Checkpoint, openCheckpoint } from './checkpoint.ts';
import type { WritableTensor } from './safetensors-writer.ts';
import { pack, type StoredTensor, storedTensors, unpack } from './stored-tensors.ts';

/**
 * Reads the weights that the configuration asks for, all shapes checked before the first one is read.
 *
 * @throws {EngineError} `weights_missing`, `tensor_missing`, `tensor_unexpected`, `tensor_shape_mismatch`, `weights_not_finite`
 */
export async function readParameters(folder: string, config: ModelConfig): Promise<Parameters> {
  const checkpoint = await openCheckpoint(folder, config);
  try {
    const stored = storedTensors(config);
    assertSameTensors(checkpoint, stored, config);
    const parameters: Parameters = new Map();
    for (const [name, tensor] of stored) {
      const { reader } = checkpoint.tensors.get(name)!;
      const values = await reader.read(name);
      assertFinite(values, name, reader.path);
      const minusOne = tensor.minusOne && reader.normsAreFactors !== true;
      for (const [parameter, part] of unpack({ ...tensor, minusOne }, values)) parameters.set(parameter, part);
    }
    return parameters;
  } finally {
    await checkpoint.close();
  }
}

/** @throws {EngineError} `tensor_missing`, `weights_not_finite` */
export function writableTensors(config: ModelConfig, parameters: Parameters): Map<string, WritableTensor> {
  const tensors = new Map<string, WritableTensor>();
  for (const [name, stored] of storedTensors(config)) {
    for (const { parameter } of stored.parts) {
      const values = parameters.get(parameter);
      if (!values) throw missing('the model in memory', parameter, config);
      assertFinite(values, parameter, 'the model in memory');
    }
    tensors.set(name, { shape: [...stored.shape], data: () => pack(stored, parameters) });
  }
  return tensors;
}

function assertSameTensors(checkpoint: Checkpoint, stored: Map<string, StoredTensor>, config: ModelConfig): void {
  for (const [name, { shape }] of stored) {
    const found = checkpoint.tensors.get(name);
    if (!found) throw missing(checkpoint.file, name, config);
    if (found.shape.join() !== shape.join()) throw wrongShape(found.reader.path, name, shape, found.shape);
  }
  for (const [name, { reader }] of checkpoint.tensors)
    if (!stored.has(name) && !isRedundant(name, config)) throw unexpected(reader.path, name);
}

/** Rotary frequencies follow from the configuration, and a tied head is the embedding again. */
function isRedundant(name: string, config: ModelConfig): boolean {
  return name.endsWith('.rotary_emb.inv_freq') || (config.tiedEmbeddings && name === 'lm_head.weight');
}

function assertFinite(values: Float32Array, name: string, where: string): void {
  const index = values.findIndex((value) => !Number.isFinite(value));
  if (index < 0) return;
  throw new EngineError({
    code: 'weights_not_finite',
    message: `${where}: tensor "${name}" holds ${values[index]} at position ${index}.`,
    hint: 'Go back to an earlier checkpoint. If training made it, lower the learning rate or clip gradients.',
    category: 'user',
  });
}

function missing(file: string, name: string, config: ModelConfig): EngineError {
  const untied = name === headName(config) && !config.tiedEmbeddings;
  return new EngineError({
    code: 'tensor_missing',
    message: `${file} has no tensor "${name}", which config.json asks for.`,
    hint: untied
      ? 'If the head is the embedding, set tie_word_embeddings to true in config.json.'
      : 'Check num_hidden_layers in config.json, or copy or download the weights again.',
    category: 'user',
  });
}

function wrongShape(file: string, name: string, expected: readonly number[], found: readonly number[]): EngineError {
  return new EngineError({
    code: 'tensor_shape_mismatch',
    message: `${file}: tensor "${name}" has shape [${found.join(', ')}], but config.json asks for [${expected.join(', ')}].`,
    hint: 'Use config.json and weights of the same model.',
    category: 'user',
  });
}

function unexpected(file: string, name: string): EngineError {
  return new EngineError({
    code: 'tensor_unexpected',
    message: `${file} holds tensor "${name}", for which a model of this config.json has no place.`,
    hint: 'Use config.json and weights of the same model; adapters and further heads are not supported.',
    category: 'user',
  });
}
