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
  await bareSpawn({ count: 100, concurrency });
  // Before and after ours: the machine may be busier at one of them.
  const before = await bareSpawn({ count: rollouts, concurrency });
  const processes = note('agl', await ours({ folder, count: rollouts, concurrency, agent: { command } }));
  const after = await bareSpawn({ count: rollouts, concurrency });
  const bare = note('bare_spawn', { count: rollouts, ms: (before.ms + after.ms) / 2 });
  const run = () => '42';
  const functions = note('agl_function', await ours({ folder, count: rollouts, concurrency, agent: { run } }));
  metrics.overhead_ms_per_rollout = round(processes - bare);
  ratios.bare_spawn = round(bare / processes);
  metrics.function_ratio = round(processes / functions);
  if (values['skip-python']) missing.agentlightning = 'left out by --skip-python';
  else {
    try {
      const count = Number(values['peer-rollouts']);
      const peer = await pythonController({ folder, count, concurrency });
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
