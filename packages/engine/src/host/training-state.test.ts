import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TrainRow } from '../contract.ts';
import { initLora, initValueHead, type LoraConfig } from '../model/index.ts';
import { tinyConfig, tinyWeights } from '../testing/tiny-model.ts';
import { Trainer } from '../train/index.ts';
import { loadBackend } from './backend.ts';
import { loadTrainingState, saveTrainingState } from './training-state.ts';

const { ort, sessionOptions } = await loadBackend({ force: 'native', threads: 1 });
const lora: LoraConfig = { rank: 2, alpha: 4, targets: ['q_proj', 'o_proj'] };

let root = '';
let state = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'agl-state-'));
  state = join(root, 'state');
});
afterEach(() => rm(root, { recursive: true, force: true }));

function create({ adapted = false, critic = false, seed = 1, config = tinyConfig } = {}): Trainer {
  const adapters = adapted ? { lora: { config: lora, adapters: initLora(config, lora, 3) } } : {};
  const head = critic ? { valueHead: initValueHead(config) } : {};
  return new Trainer({ ort, sessionOptions, config, parameters: tinyWeights(config, seed), ...adapters, ...head });
}

const row: TrainRow = {
  tokenIds: Int32Array.of(1, 2, 3, 4, 30),
  weights: Float32Array.of(0, 1, 1, 1, 1),
  valueSlopes: Float32Array.of(0, 1, -1, 2, 1),
};

async function step(trainer: Trainer): Promise<void> {
  const critic = trainer.valueHead !== undefined;
  await trainer.forwardBackward([row], critic ? { name: 'actor_critic', trunk: 1 } : { name: 'cross_entropy' });
  await trainer.optimStep({ learningRate: 0.01 });
}

/** Digest of each file's bytes. */
async function filesOf(folder: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const name of await readdir(folder)) {
    digests[name] = createHash('sha256')
      .update(await readFile(join(folder, name)))
      .digest('hex');
  }
  return digests;
}

describe('a training state', () => {
  it.each([{ adapted: false }, { adapted: true }, { adapted: false, critic: true }, { adapted: true, critic: true }])(
    'makes the next step the same bit for bit (adapters: $adapted, value head: $critic)',
    async (options) => {
      const [kept, loaded] = [create(options), create(options)];
      await step(kept);
      await step(kept);
      await saveTrainingState(state, kept);
      await step(loaded);
      await loadTrainingState(state, loaded);
      for (const [name, trainer] of Object.entries({ kept, loaded })) {
        await step(trainer);
        await saveTrainingState(join(root, name), trainer);
      }
      const after = await filesOf(join(root, 'kept'));
      expect(Object.keys(after).sort()).toEqual(['optimizer.safetensors', 'state.json', 'weights.safetensors']);
      expect(await filesOf(join(root, 'loaded'))).toEqual(after);
      expect(await filesOf(state)).not.toEqual(after);
    },
  );

  it.each([
    { what: 'other sizes', loader: { config: { ...tinyConfig, intermediateSize: 41 } }, part: 'model' },
    { what: 'no adapters', loader: { adapted: false }, part: 'lora' },
    { what: 'a value head', loader: { adapted: true, critic: true }, part: 'valueHead' },
    { what: 'adapters on other weights', loader: { adapted: true, seed: 2 }, part: 'lora' },
  ])('is refused by a model with $what, which stays as it was', async ({ loader, part }) => {
    await saveTrainingState(state, create({ adapted: true }));
    const trainer = create(loader);
    const before = await trainer.forward([row]);
    const error = { code: 'state_mismatch', message: expect.stringContaining(`its "${part}" is`) as string };
    await expect(loadTrainingState(state, trainer)).rejects.toMatchObject(error);
    expect(await trainer.forward([row])).toEqual(before);
  });

  it('is refused when it was cut off, is foreign, or is not there, by file', async () => {
    const trainer = create();
    await expect(loadTrainingState(state, trainer)).rejects.toMatchObject({
      code: 'state_missing',
      message: expect.stringContaining(state) as string,
    });
    await saveTrainingState(state, trainer);
    const optimizer = join(state, 'optimizer.safetensors');
    await truncate(optimizer, 5000);
    await expect(loadTrainingState(state, trainer)).rejects.toMatchObject({
      code: 'safetensors_invalid',
      message: expect.stringContaining(optimizer) as string,
    });
    await writeFile(join(state, 'state.json'), '{"format": "something else"}');
    await expect(loadTrainingState(state, trainer)).rejects.toMatchObject({ code: 'state_invalid' });
    await writeFile(join(state, 'state.json'), '{"format": ');
    await expect(loadTrainingState(state, trainer)).rejects.toMatchObject({ code: 'json_invalid' });
  });

  it('stays as it was when writing the next one fails half way', async () => {
    const trainer = create();
    await step(trainer);
    await saveTrainingState(state, trainer);
    const before = await filesOf(state);
    await step(trainer);
    const { moments } = trainer.optimizerState();
    const name = [...moments.keys()].sort().at(-1)!;
    moments.set(name, { ...moments.get(name)!, second: new Float32Array(1) });
    await expect(saveTrainingState(state, trainer)).rejects.toMatchObject({ code: 'tensor_shape_mismatch' });
    expect(await filesOf(state)).toEqual(before);
    expect(await readdir(root)).toEqual(['state']);
  });

  it('is whole after a kill at any moment: the old one or the new one', async () => {
    const script = fileURLToPath(new URL('../testing/save-forever.js', import.meta.url));
    for (const saves of [1, 2]) {
      const child = spawn(process.execPath, [script, state], { stdio: ['ignore', 'pipe', 'inherit'] });
      const exited = once(child, 'exit');
      let told = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        told = Number(line);
        if (told >= saves) child.kill('SIGKILL'); // the next save has begun by now
      }
      await exited;
      const trainer = create();
      await loadTrainingState(state, trainer);
      expect(trainer.optimizerState().step).toBeGreaterThanOrEqual(told);
      expect(trainer.optimizerState().step).toBeLessThanOrEqual(told + 1);
    }
  });
});
