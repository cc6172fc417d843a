// Holds exported training data to TRL: a real run of the calculator example is exported, and TRL's trainers (PyPI) train on the files as they are. The
// loss that SFTTrainer computes on the exported tokens is that of our engine on the same weights, to 1e-3, and DPOTrainer's is ours.
//   npm run test:trl                   installs into a temporary folder, tests, removes it
//   npm run test:trl -- --folder DIR   keeps what it installed, for the next time
// PyPI's torch for Linux imports its CUDA libraries even for the CPU, so this needs 6 GB of disk; .ci/run leaves it out for that.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createEmbeddedEngine } from '../packages/engine/dist/index.js';
import { pythonIn, run } from './servers/python.mjs';

const packages = ['torch==2.15.0', 'transformers==5.24.0', 'trl==1.16.0', 'datasets==5.2.0'];
const { values } = parseArgs({ options: { folder: { type: 'string' } } });
const example = fileURLToPath(new URL('../examples/calculator/', import.meta.url));
const agl = fileURLToPath(new URL('../packages/agentlightning/bin/agl.js', import.meta.url));
const script = fileURLToPath(new URL('./trl/train.py', import.meta.url));
const folder = values.folder === undefined ? mkdtempSync(join(tmpdir(), 'agl-trl-')) : resolve(values.folder);
const work = join(folder, 'work');

try {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const python = join(pythonIn(folder, [3, 10]), 'python');
  console.log(`Installing ${packages.join(', ')} …`);
  run(python, ['-m', 'pip', 'install', '--quiet', ...packages]);
  record();
  const ours = await lossesOfEngine();
  const { status } = spawnSync(python, [script, join(example, 'model'), work, JSON.stringify(ours)], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}

/** One step of rollouts without learning, exported in every form that TRL reads. */
function record() {
  const store = join(work, 'store.db');
  const settings = ['algorithm.steps=1', 'algorithm.tasksPerStep=24', 'algorithm.learningRate=0', 'validation.tasks=1'];
  run(process.execPath, [
    agl,
    'train',
    example,
    '--store',
    store,
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  for (const format of ['trl', 'trl-parquet', 'hf-chat', 'hf-chat-parquet', 'trl-dpo']) {
    console.log(
      run(process.execPath, [agl, 'export', join(work, format), '--store', store, '--format', format]).trim(),
    );
  }
}

/** Mean cross entropy a trained token of the exported rows. */
async function lossesOfEngine() {
  const rows = readFileSync(join(work, 'trl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const engine = await createEmbeddedEngine({ folder: join(example, 'model') });
  const trained = rows.map(({ assistant_masks: mask }) => Float32Array.from(mask));
  const logProbs = await engine.forward(
    rows.map((row, at) => ({ tokenIds: Int32Array.from(row.input_ids), weights: trained[at] })),
  );
  await engine.close();
  const tokens = trained.flatMap((mask) => [...mask]).filter((weight) => weight === 1).length;
  const sum = logProbs
    .flatMap((row, at) => [...row].filter((_, token) => trained[at][token] === 1))
    .reduce((a, b) => a - b, 0);
  return { rows: rows.length, tokens, loss: sum / tokens };
}
