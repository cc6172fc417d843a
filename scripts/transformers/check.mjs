// Compares the engine with what reference.py wrote: node check.mjs MODEL OUT full|lora. Prints one line, fails when a bound is broken.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { loadModelFolder, modelFolder, readSafetensors } from '../../packages/engine/dist/files/index.js';
import { storedTensors, unpack } from '../../packages/engine/dist/files/stored-tensors.js';
import { loadBackend } from '../../packages/engine/dist/host/backend.js';
import { loraShapes, projections } from '../../packages/engine/dist/model/index.js';
import { KeyValueCache } from '../../packages/engine/dist/sample/cache.js';
import { StepRunner } from '../../packages/engine/dist/sample/step-runner.js';
import { Trainer } from '../../packages/engine/dist/train/index.js';

const bounds = { logits: 1e-3, logProbs: 1e-4, cosine: 0.9999, losses: 1e-3 };
const [source, out, mode] = process.argv.slice(2);
const { config, parameters } = await loadModelFolder(await modelFolder(source, { cacheFolder: join(out, 'cache') }));
const expected = JSON.parse(readFileSync(join(out, 'expected.json'), 'utf8'));
const { tensors } = await readSafetensors(join(out, 'tensors.safetensors'));
const { ort, sessionOptions } = await loadBackend({ threads: 2 });
const furthest = (a, b) => a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);
const rows = expected.rows.map((ids) => ({
  tokenIds: Int32Array.from(ids),
  weights: new Float32Array(ids.length).fill(1, 1),
}));

const runner = await StepRunner.create({ ort, config, weights: parameters, sessionOptions });
let logits = 0;
for (const [i, { tokenIds }] of rows.entries()) {
  const cache = new KeyValueCache(config);
  const output = await runner.run(cache, 0, [{ cached: 0, ids: tokenIds }]);
  logits = Math.max(logits, furthest(output.logits, tensors.get(`logits.${i}`).data));
}
await runner.release();

const plain = new Trainer({ ort, config, parameters, sessionOptions });
const found = await plain.forward(rows);
const logProbs = Math.max(...found.map((row, i) => furthest(row.subarray(1), tensors.get(`logProbs.${i}`).data)));
await plain.close();

const trainer = mode === 'lora' ? new Trainer({ ort, config, parameters, sessionOptions, lora: adapters() }) : plain;
const losses = [];
let cosine = 1;
const step = {
  learningRate: expected.learningRate,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0.1,
  maxGradNorm: 1,
};
for (const norm of expected.norms) {
  losses.push((await trainer.forwardBackward(rows, { name: 'cross_entropy' })).loss);
  const { gradNorm } = await trainer.optimStep(step);
  if (losses.length === 1) cosine = worstCosine(trainer);
  if (Math.abs(gradNorm / norm - 1) > 1e-2)
    throw new Error(`The gradient's norm is ${gradNorm}, but should be ${norm}.`);
}
await trainer.close();
const lossError = Math.max(...losses.map((loss, i) => Math.abs(loss / expected.losses[i] - 1)));
const result = { model: source.split('/').at(-1), mode, logits, logProbs, cosine, losses: lossError };
console.log(JSON.stringify({ ...result, first: losses[0], last: losses.at(-1) }));
const good =
  logits < bounds.logits && logProbs < bounds.logProbs && cosine > bounds.cosine && lossError < bounds.losses;
if (!good) throw new Error(`A bound is broken: ${JSON.stringify(bounds)}.`);

/** PEFT's matrices are [rank, in] and [out, rank], ours the other way round. */
function adapters() {
  const lora = { rank: 8, alpha: 16, targets: projections };
  const values = new Map();
  for (const name of loraShapes(config, lora).keys()) values.set(name, flipped(tensors.get(`initial.${name}`)));
  return { config: lora, adapters: values };
}

function flipped({ shape: [rows, columns], data }) {
  return Float32Array.from(data, (_, i) => data[(i % rows) * columns + Math.floor(i / rows)]);
}

/** After one step the first moments are the gradients, scaled; every tensor has to be there. */
function worstCosine(trained) {
  const { moments } = trained.optimizerState();
  const reference = new Map();
  if (mode === 'lora') for (const name of moments.keys()) reference.set(name, flipped(tensors.get(`gradient.${name}`)));
  else
    for (const [name, stored] of storedTensors(config))
      for (const [own, values] of unpack({ ...stored, minusOne: false }, tensors.get(`gradient.${name}`).data))
        reference.set(own, values);
  if (!isDeepStrictEqual([...reference.keys()].sort(), [...moments.keys()].sort()))
    throw new Error('Other parameters.');
  return Math.min(...[...moments].map(([name, { first }]) => cosineOf(first, reference.get(name))));
}

function cosineOf(a, b) {
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / Math.sqrt(aa * bb);
}
