// npm run bench -- controller [--rollouts 1000] [--peer-rollouts 100] [--skip-python]: trivial agents through our controller, with
// store, gateway and grader, beside bare `spawn` of the same command, and beside the local mode of the Python project's
// controller with a trivial class. All in one run; ratios are ours ÷ theirs, more is better.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printResult } from '../scripts/result.mjs';
import { bareSpawn, command } from './controller/bare-spawn.mjs';
import { ours } from './controller/ours.mjs';
import { pythonController } from './controller/python-peer.mjs';

const { values } = parseArgs({
  options: {
    rollouts: { type: 'string', default: '1000' },
    'peer-rollouts': { type: 'string', default: '100' },
    'skip-python': { type: 'boolean', default: false },
  },
});
const rollouts = Number(values.rollouts);
const concurrency = 64;
const turns = 5;
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const folder = mkdtempSync(join(tmpdir(), 'agl-bench-controller-'));
const metrics = { rollouts, concurrency };
const ratios = {};
const missing = {};
const round = (value) => Math.round(value * 1000) / 1000;

/** @returns milliseconds of the whole a rollout */
function note(name, { count, ms }) {
  metrics[`${name}_ms_per_rollout`] = round(ms / count);
  metrics[`${name}_rollouts_per_second`] = round((count * 1000) / ms);
  console.log(`${name}: ${count} in ${round(ms / 1000)} s, ${round(ms / count)} ms a rollout`);
  return ms / count;
}

try {
  // In turns, and compared turn by turn: what else the machine does meanwhile falls on all of them.
  const count = Math.ceil(rollouts / turns);
  const run = () => '42';
  const measured = { bare_spawn: [], agl: [], agl_function: [] };
  await bareSpawn({ count, concurrency });
  for (let turn = 0; turn < turns; turn += 1) {
    measured.bare_spawn.push((await bareSpawn({ count, concurrency })).ms);
    measured.agl.push((await ours({ folder, count, concurrency, agent: { command } })).ms);
    measured.agl_function.push((await ours({ folder, count, concurrency, agent: { run } })).ms);
  }
  const per = (name) => measured[name].map((ms) => ms / count);
  for (const name of Object.keys(measured)) note(name, { count, ms: median(measured[name]) });
  const processes = median(per('agl'));
  metrics.overhead_ms_per_rollout = round(median(per('agl').map((ms, turn) => ms - per('bare_spawn')[turn])));
  ratios.bare_spawn = round(median(per('agl').map((ms, turn) => per('bare_spawn')[turn] / ms)));
  if (values['skip-python']) missing.agentlightning = 'left out by --skip-python';
  else {
    try {
      const peer = await pythonController({ folder, count: Number(values['peer-rollouts']), concurrency });
      const theirs = note('agentlightning', peer);
      metrics.python_spawn_ms = round(peer.spawnMs);
      ratios.agentlightning = round(theirs / processes);
    } catch (error) {
      missing.agentlightning = error.message.replaceAll(folder, '');
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
printResult({ name: 'controller', metrics, ratios, missing });
