import { openSync } from 'node:fs';
import { join } from 'node:path';
import { startProgram } from '../gateway/processes.mjs';
import { freePort, install } from '../gateway/python-peers.mjs';

/** The store server of the Python project's 0.3, which keeps everything in memory. `venv`: where it is installed already. */
export async function startPythonStore(folder, venv = join(folder, 'agentlightning')) {
  if (venv.startsWith(folder)) install(venv, 'agentlightning==0.3.*', 10);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(join(folder, 'store.log'), 'w');
  const args = ['store', '--host', '127.0.0.1', '--port', String(port), '--log-level', 'ERROR'];
  const child = await startProgram(join(venv, 'bin', 'agl'), args, { url: `${url}/v1/agl/health`, cwd: folder, log });
  return { child, url };
}
