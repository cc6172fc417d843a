import { spawnSync } from 'node:child_process';
import { openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { findPython } from '../../scripts/find-python.mjs';
import { startProgram } from './processes.mjs';

function run(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (result.status !== 0)
    throw new Error(
      `${command} ${args.join(' ')}: ${(result.stderr || String(result.error)).trim().split('\n').at(-1)}`,
    );
}

/** A virtual environment with one package in it. */
export function install(folder, requirement, minor) {
  const python = findPython(minor);
  if (python === null) throw new Error(`no Python 3.${minor} or newer`);
  run(python, ['-m', 'venv', folder]);
  run(join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', requirement]);
}

export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const post = async (url, body) => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

/** The gateway of the Python project's 1.x, with one rollout that calls are recorded under. It has no streams. */
export async function startAgentlightning(folder, upstreamPort) {
  const venv = join(folder, 'agentlightning');
  install(venv, 'agentlightning>=1,<2', 12);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(join(folder, 'agentlightning.log'), 'w');
  const child = await startProgram(
    join(venv, 'bin', 'agl-server'),
    ['host=127.0.0.1', `port=${port}`, 'default_proxy.model_name=bench'],
    { url: `${url}/healthz`, cwd: folder, log },
  );
  await post(`${url}/api/models`, [{ model: 'bench', endpoint: `http://127.0.0.1:${upstreamPort}/v1`, version: 0 }]);
  const made = await post(`${url}/api/rollouts`, [{ rollout_id: 'bench', input: {} }]);
  return { child, port, path: '/proxy/rollout/bench/attempt/0/mode/train/openai/v1/chat/completions', made };
}

/** It refuses to start without one. */
const litellmKey = 'sk-bench-0123456789abcdef0123456789abcdef';

/** LiteLLM's proxy. */
export async function startLitellm(folder, upstreamPort) {
  const venv = join(folder, 'litellm');
  install(venv, 'litellm[proxy]', 9);
  const port = await freePort();
  const config = join(folder, 'litellm.yaml');
  const model = {
    model_name: 'bench',
    litellm_params: { model: 'openai/bench', api_base: `http://127.0.0.1:${upstreamPort}/v1`, api_key: 'none' },
  };
  writeFileSync(config, JSON.stringify({ model_list: [model], litellm_settings: { telemetry: false } }));
  const log = openSync(join(folder, 'litellm.log'), 'w');
  const env = {
    LITELLM_TELEMETRY: 'False',
    LITELLM_MASTER_KEY: litellmKey,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    DISABLE_ADMIN_UI: 'True',
  };
  const child = await startProgram(
    join(venv, 'bin', 'litellm'),
    ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'],
    { url: `http://127.0.0.1:${port}/health/liveliness`, env, cwd: folder, log },
  );
  return { child, port, path: '/v1/chat/completions', headers: { authorization: `Bearer ${litellmKey}` } };
}
