// node examples/prompts/demo.mjs [--set algorithm.name=apo] [--seed 2] [--json] …: serves the scripted model and trains the prompts of the help desk on it.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startScriptedModel } from './scripted-model.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const agl = fileURLToPath(new URL('../../packages/agentlightning/bin/agl.js', import.meta.url));
mkdirSync(join(here, '.agl'), { recursive: true });
const store = join(mkdtempSync(join(here, '.agl', 'demo-')), 'store.db');
const model = await startScriptedModel();
const child = spawn(process.execPath, [agl, 'train', here, '--store', store, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, SCRIPTED_MODEL_URL: model.url },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  model.close();
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
});
