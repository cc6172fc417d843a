import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const agl = fileURLToPath(new URL('../../packages/agentlightning/bin/agl.js', import.meta.url));
const calculator = (name) => fileURLToPath(new URL(`../../examples/calculator/${name}`, import.meta.url));
/** Rollouts of a step, whatever the algorithm. */
const collection = { tasksPerStep: 16, groupSize: 8 };

/**
 * The algorithms that are compared, each with the same number of rollouts: `steps` times those of a step. What learns from records
 * has them recorded first, by the base model.
 */
export const arms = {
  grpo: (steps) => ({ train: { name: 'grpo', steps, learningRate: 3e-4, ...collection } }),
  sft: (steps) => ({ record: steps, train: { name: 'sft', epochs: 3, learningRate: 3e-4 } }),
  'sft-grpo': (steps) => ({
    record: Math.floor(steps / 2),
    train: [
      { name: 'sft', epochs: 3, learningRate: 3e-4 },
      { name: 'grpo', steps: Math.ceil(steps / 2), learningRate: 3e-4, ...collection },
    ],
  }),
  'expert-iteration': (steps) => ({
    train: { name: 'expert-iteration', steps, bestPerGroup: 2, epochs: 2, learningRate: 3e-4, ...collection },
  }),
  dpo: (steps) => ({ train: { name: 'dpo', steps, imitation: 0.1, learningRate: 3e-4, ...collection } }),
};

/** Runs one arm with one seed on the calculator. @returns held-out success before and after, and what it took */
export async function runArm(name, { steps, seed, settings = {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'agl-arm-'));
  try {
    const { record = 0, train } = arms[name](steps);
    const told = [];
    if (record > 0) told.push(...(await run(folder, 'record', { seed, settings, algorithm: recording(record) })));
    const events = await run(folder, 'train', { seed, settings, algorithm: train });
    const validations = events.filter(({ kind }) => kind === 'validation');
    const all = [...told, ...events].filter(({ kind }) => kind === 'step');
    const sum = (key) => all.reduce((total, event) => total + event[key], 0);
    return {
      before: validations[0].success.mean,
      after: validations.at(-1).success.mean,
      rollouts: sum('rollouts'),
      calls: sum('calls'),
      sampledTokens: sum('sampledTokens'),
      seconds: Math.round(all.reduce((total, { seconds }) => total + seconds.total, 0)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The base model's own rollouts, and nothing learned. */
const recording = (steps) => ({ name: 'grpo', steps, learningRate: 0, ...collection });

async function run(folder, name, { seed, settings, algorithm }) {
  const config = {
    name,
    agent: { module: calculator('agent.mjs'), concurrency: 8 },
    tasks: {
      train: calculator('tasks/train.jsonl'),
      ...(name === 'record' ? {} : { validation: calculator('tasks/validation.jsonl') }),
      inputFields: ['question'],
    },
    grader: 'numeric-match',
    policy: { model: calculator('model') },
    sampling: { maxTokens: 48 },
    store: join(folder, 'store.db'),
    algorithm,
    seed,
    ...settings,
  };
  const file = join(folder, 'agl.config.json');
  writeFileSync(file, JSON.stringify(config));
  const child = spawn(process.execPath, [agl, 'train', file, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const part of child.stdout.setEncoding('utf8')) output += part;
  const events = output
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  if (events.length === 0 || events.some(({ kind }) => kind === 'error')) throw new Error(`${name} failed: ${output}`);
  return events;
}

/** Runs every arm with every seed; prints a line for each, and a table. @returns the outcomes by arm */
export async function compareArms(names, { steps, seeds, settings }) {
  const outcomes = Object.fromEntries(names.map((name) => [name, []]));
  for (const seed of seeds) {
    for (const name of names) {
      const outcome = await runArm(name, { steps, seed, settings });
      outcomes[name].push(outcome);
      console.log(name, 'seed', seed, JSON.stringify(outcome));
    }
  }
  console.log(
    `\n${['algorithm', 'before', 'after', 'gain', 'rollouts', 'calls', 'seconds'].map((title) => title.padEnd(16)).join('')}`,
  );
  for (const name of names) {
    const of = (key) => mean(outcomes[name].map((outcome) => outcome[key]));
    const percent = (value) => `${(100 * value).toFixed(1)} %`;
    const cells = [percent(of('before')), percent(of('after')), percent(of('after') - of('before'))];
    const amounts = ['rollouts', 'calls', 'seconds'].map((key) => String(Math.round(of(key))));
    console.log([name, ...cells, ...amounts].map((cell) => cell.padEnd(16)).join(''));
  }
  return outcomes;
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
