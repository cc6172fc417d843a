// npm run demo [-- --seed 2] [-- --json] [-- --learning-rate 0]: trains the calculator agent's policy in a fresh store and shows what it learned.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const agl = fileURLToPath(new URL('../../packages/agentlightning/bin/agl.js', import.meta.url));
mkdirSync(join(here, '.agl'), { recursive: true });
const store = join(mkdtempSync(join(here, '.agl', 'demo-')), 'store.db');

const child = spawn(
  process.execPath,
  [agl, 'train', here, '--store', store, '--set', 'name=demo', ...process.argv.slice(2)],
  {
    stdio: 'inherit',
  },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
});
