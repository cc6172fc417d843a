import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProgram } from '../gateway/processes.mjs';
import { freePort, install } from '../gateway/python-peers.mjs';

const pollSeconds = 1;

/**
 * The local mode of the Python project's 1.x: its server, its controller, and a class whose run() does nothing. It polls every
 * 10 s by default; here every second, which favours it, and never has more than 50 at once.
 */
export async function pythonController({ folder, count, concurrency }) {
  const venv = join(folder, 'agentlightning');
  install(venv, 'agentlightning>=1,<2', 12);
  writeFileSync(join(folder, 'trivial.py'), 'class Trivial:\n    def run(self):\n        return None\n');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(join(folder, 'agentlightning.log'), 'w');
  const env = { ...process.env, PYTHONPATH: folder };
  const server = await startProgram(
    join(venv, 'bin', 'agl-server'),
    ['host=127.0.0.1', `port=${port}`, 'default_proxy.model_name=bench'],
    { url: `${url}/healthz`, cwd: folder, log },
  );
  const settings = [
    ...['runner_type=local', `agl_server.url=${url}`],
    ...[`local_runner.maximum_size=${concurrency}`, `local_runner.poll_interval=${pollSeconds}`],
  ];
  const controller = spawn(join(venv, 'bin', 'agl-controller'), settings, {
    ...{ cwd: folder, env, stdio: ['ignore', log, log] },
  });
  try {
    const rows = Array.from({ length: count }, (_, index) => ({
      ...{ rollout_id: `r${index}`, input: {} },
      config: { local: { agent_class: 'trivial:Trivial', env_map: {} } },
    }));
    const began = performance.now();
    const answer = await fetch(`${url}/api/rollouts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(rows),
    });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    while ((await unfinished(url)) > 0) {
      if (controller.exitCode !== null) throw new Error(`agl-controller ended with exit code ${controller.exitCode}`);
      if (performance.now() - began > 600_000) throw new Error('not done after 10 minutes');
      await sleep(100);
    }
    const ms = performance.now() - began;
    if ((await inState(url, 'failed')) > 0) throw new Error('a rollout of the Python controller failed');
    return { count, ms, spawnMs: spawnTime(venv, env) };
  } finally {
    controller.kill('SIGTERM');
    server.kill('SIGKILL');
    if (controller.exitCode === null) await once(controller, 'exit');
  }
}

const unfinished = async (url) => (await inState(url, 'queuing')) + (await inState(url, 'running'));

async function inState(url, state) {
  const answer = await fetch(`${url}/api/rollouts?state_in=${state}&limit=1`);
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()).length;
}

/** What one such process costs by itself, without any controller: most of it is Python's own imports. */
function spawnTime(venv, env) {
  const began = performance.now();
  const script =
    'from agentlightning.controller.local_reconciler import _run_local_reconciler_worker as w; w("trivial:Trivial")';
  spawnSync(join(venv, 'bin', 'python'), ['-c', script], { env });
  return performance.now() - began;
}
