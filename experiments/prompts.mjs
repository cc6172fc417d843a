// npm run experiment -- prompts [--seeds 5] [--skip-real] [--skip-scripted]: APO and GEPA on a system of two prompts with six hidden requirements and a scripted
// model; then both on a real small model with a critique model that knows nothing, where no winner may be named by chance.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { answerOf, hidden, startScriptedModel } from '../examples/prompts/scripted-model.mjs';
import { printResult } from '../scripts/result.mjs';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '5' },
    'skip-real': { type: 'boolean', default: false },
    'skip-scripted': { type: 'boolean', default: false },
  },
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => index + 1);
const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** One run from the configuration to its outcome. */
async function train(project, url, settings) {
  const folder = mkdtempSync(join(tmpdir(), 'agl-experiment-prompts-'));
  const flags = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const args = [
    path('../packages/agentlightning/bin/agl.js'),
    'train',
    path(project),
    '--store',
    join(folder, 'store.db'),
  ];
  const child = spawn(process.execPath, [...args, '--json', ...flags], {
    env: { ...process.env, SCRIPTED_MODEL_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const part of child.stdout.setEncoding('utf8')) output += part;
  rmSync(folder, { recursive: true });
  return JSON.parse(output.trim().split('\n').at(-1)).metrics.prompts;
}

const rulesOf = (name) => Object.values(hidden[name]).map(({ rule }) => rule);
const foundAll = ({ prompts }) =>
  Object.keys(hidden).every((name) => {
    const text = prompts.find((prompt) => prompt.name === name)?.text ?? '';
    return rulesOf(name).every((rule) => text.includes(rule));
  });
const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

const metrics = {};
const ratios = {};
if (!values['skip-scripted']) await searchForRequirements();
if (!values['skip-real']) await searchBlindly();
printResult({ name: 'prompts', metrics, ratios });

async function searchForRequirements() {
  const model = await startScriptedModel();
  for (const [name, steps] of [
    ['gepa', 80],
    ['apo', 12],
  ]) {
    const runs = [];
    for (const seed of seeds) {
      const outcome = await train('../examples/prompts', model.url, {
        'algorithm.name': name,
        'algorithm.steps': steps,
        'algorithm.parallel': 8,
        'agent.concurrency': 8,
        seed,
      });
      const { rollouts, spent, verdict } = outcome;
      runs.push({ rollouts, calls: spent.calls, found: foundAll(outcome), verdict });
      console.log(name, seed, JSON.stringify(runs.at(-1)));
    }
    metrics[`${name}_rollouts`] = runs.map(({ rollouts }) => rollouts);
    metrics[`${name}_calls`] = runs.map(({ calls }) => calls);
    metrics[`${name}_found_all`] = runs.filter(({ found, verdict }) => found && verdict === 'improved').length;
  }
  model.close();
  ratios.apo = mean(metrics.apo_rollouts) / mean(metrics.gepa_rollouts);
}

/** Prompts change at random here: what looks better then is chance, and must not be called better. */
async function searchBlindly() {
  const model = await startScriptedModel({ answer: (body) => answerOf(withoutReports(body)) });
  for (const [name, steps] of [
    ['gepa', 12],
    ['apo', 2],
  ]) {
    const outcomes = [];
    for (const seed of seeds) {
      const outcome = await train('./prompts', model.url, { 'algorithm.name': name, 'algorithm.steps': steps, seed });
      const { verdict, gain } = outcome;
      outcomes.push({ verdict, gain: gain === null ? null : [gain.mean, gain.low, gain.high] });
      console.log('real', name, seed, JSON.stringify(outcomes.at(-1)));
    }
    metrics[`real_${name}`] = outcomes;
    metrics[`real_${name}_named`] = outcomes.filter(({ verdict }) => verdict === 'improved').length;
    metrics[`real_${name}_wrongly_named`] = outcomes.filter(
      ({ verdict, gain }) => verdict === 'improved' && !(gain[1] > 0),
    ).length;
  }
  model.close();
}

function withoutReports(body) {
  const messages = body.messages.map((message) => ({
    ...message,
    content: message.content.replaceAll(/<example[\s\S]*?<\/example>/g, ''),
  }));
  return { ...body, messages };
}
