import { createHash } from 'node:crypto';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { EngineError } from '../errors.ts';
import {
  readJsonObject,
  readSafetensors,
  recoverFolder,
  type WritableTensor,
  writeFolderAtomic,
  writeSafetensors,
} from '../files/index.ts';
import type { Shape } from '../graph/index.ts';
import type { Parameters } from '../model/index.ts';
import type { OptimizerState, Trainer } from '../train/index.ts';

const format = 'agentlightning-training-state-1';
const stateName = 'state.json';
const weightsName = 'weights.safetensors';
const optimizerName = 'optimizer.safetensors';

/**
 * Writes the weights that training changes, AdamW's moments and counters: a folder that is there as a whole or not at all.
 * Gradients gathered since the last step are not part of it.
 *
 * @throws {EngineError} `disk_full`, `path_not_writable`, `write_failed`, naming the path
 */
export async function saveTrainingState(folder: string, trainer: Trainer): Promise<void> {
  const { step, moments } = trainer.optimizerState();
  const weights = new Map<string, WritableTensor>();
  const optimizer = new Map<string, WritableTensor>();
  for (const [name, readonlyShape] of trainer.trainableShapes) {
    const shape = [...readonlyShape];
    const { first, second } = moments.get(name)!;
    weights.set(name, { shape, data: trainer.trainable.get(name)! });
    optimizer.set(`first.${name}`, { shape, data: first });
    optimizer.set(`second.${name}`, { shape, data: second });
  }
  const state = { format, optimizerSteps: step, ...identity(trainer) };
  await writeFolderAtomic(folder, async (staging) => {
    await writeSafetensors(join(staging, weightsName), weights);
    await writeSafetensors(join(staging, optimizerName), optimizer);
    await writeFile(join(staging, stateName), `${JSON.stringify(state, null, 2)}\n`);
  });
}

/**
 * Copies a saved state into the trainer; unless all of it fits, nothing is changed.
 *
 * @throws {EngineError} `state_missing`, `state_invalid`, `state_mismatch`, and what `readSafetensors` throws, naming the file
 */
export async function loadTrainingState(folder: string, trainer: Trainer): Promise<void> {
  await recoverFolder(folder);
  const path = join(folder, stateName);
  await access(path).catch((cause: unknown) => {
    throw new EngineError({
      code: 'state_missing',
      message: `${folder} is not a saved training state: it has no ${stateName}.`,
      hint: 'Name a folder that saveState wrote; a model folder is loaded with `folder` instead.',
      category: 'user',
      cause,
    });
  });
  const { format: found, optimizerSteps, ...saved } = await readJsonObject(path);
  if (found !== format || !Number.isSafeInteger(optimizerSteps)) {
    throw new EngineError({
      code: 'state_invalid',
      message: `${path} has the format ${JSON.stringify(found)}; this version reads "${format}".`,
      hint: 'Load it with the version that wrote it, and export the model there.',
      category: 'user',
    });
  }
  assertSameModel(path, saved, identity(trainer));
  const shapes = trainer.trainableShapes;
  const weights = await readTensors(join(folder, weightsName), shapes, '');
  const optimizer = join(folder, optimizerName);
  const first = await readTensors(optimizer, shapes, 'first.');
  const second = await readTensors(optimizer, shapes, 'second.');
  const moments: OptimizerState['moments'] = new Map();
  for (const name of shapes.keys()) moments.set(name, { first: first.get(name)!, second: second.get(name)! });
  await trainer.restore({ trainable: weights, optimizer: { step: optimizerSteps as number, moments } });
}

/** What must be equal between the saver and the loader. Adapters mean nothing without the very weights they were trained on. */
function identity(trainer: Trainer) {
  const lora = trainer.lora === undefined ? null : { ...trainer.lora.config, base: digest(trainer.parameters) };
  return { model: { ...trainer.config }, lora, ...(trainer.valueHead && { valueHead: true }) };
}

const digests = new WeakMap<Parameters, string>();

/** Frozen weights do not change, so one digest of them serves. */
function digest(parameters: Parameters): string {
  const known = digests.get(parameters);
  if (known !== undefined) return known;
  const hash = createHash('sha256');
  for (const [name, { buffer, byteOffset, byteLength }] of parameters) {
    hash.update(name).update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  const result = hash.digest('hex');
  digests.set(parameters, result);
  return result;
}

function assertSameModel(path: string, saved: Record<string, unknown>, own: ReturnType<typeof identity>): void {
  const expected = JSON.parse(JSON.stringify(own)) as Record<string, unknown>;
  for (const part of ['model', 'lora', 'valueHead']) {
    if (isDeepStrictEqual(saved[part], expected[part])) continue;
    throw new EngineError({
      code: 'state_mismatch',
      message: `${path} belongs to another model: its "${part}" is ${JSON.stringify(saved[part])}, but this engine's is ${JSON.stringify(expected[part])}.`,
      hint: 'Create the engine from the model folder, and with the LoRA setting, that the state was saved with.',
      category: 'user',
    });
  }
}

async function readTensors(path: string, shapes: ReadonlyMap<string, Shape>, prefix: string): Promise<Parameters> {
  const { tensors } = await readSafetensors(path);
  const result: Parameters = new Map();
  for (const [name, shape] of shapes) {
    const tensor = tensors.get(prefix + name);
    if (tensor === undefined || tensor.shape.join() !== shape.join()) {
      throw new EngineError({
        code: 'state_invalid',
        message: `${path}: tensor "${prefix}${name}" should have the shape [${shape.join(', ')}], but ${tensor === undefined ? 'is missing' : `has [${tensor.shape.join(', ')}]`}.`,
        hint: 'The folder was changed after saveState wrote it; use another saved state.',
        category: 'user',
      });
    }
    result.set(name, tensor.data);
  }
  return result;
}
