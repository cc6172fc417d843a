import { spawn, spawnSync } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs a command to its end; throws with the end of what it wrote when it fails. */
export function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status === 0) return stdout;
  const said = error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n');
  throw new Error(`"${command} ${args.join(' ')}" failed: ${said}`);
}

/** A Python environment in the folder, made where there is none. @returns the path of its programs */
export function pythonIn(folder, [major, minor]) {
  const programs = join(folder, 'bin');
  if (!existsSync(join(programs, 'python'))) {
    const check = `import sys; sys.exit(sys.version_info < (${major}, ${minor}))`;
    if (spawnSync('python3', ['-c', check]).status !== 0)
      throw new Error(`It needs a python3 of version ${major}.${minor} or newer.`);
    run('python3', ['-m', 'venv', folder]);
  }
  return programs;
}

/** Starts a server and waits until it answers. */
export async function startServer({ command, args, env, url, health, log }) {
  const output = openSync(log, 'w');
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
    detached: true,
  });
  let over = false;
  const ended = new Promise((resolve) => {
    child.once('exit', () => {
      over = true;
      resolve();
    });
  });
  const stop = async () => {
    // The group: vLLM's engine is a process of its own.
    if (!over) process.kill(-child.pid, 'SIGTERM');
    const late = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), 15_000);
    await ended;
    clearTimeout(late);
  };
  const deadline = Date.now() + 300_000;
  while (!over && Date.now() < deadline) {
    const response = await fetch(`${url}${health}`).catch(() => null);
    if (response?.ok) return { url, stop };
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await stop();
  const said = readFileSync(log, 'utf8').trim().split('\n').slice(-5).join('\n');
  throw new Error(`"${command} ${args.join(' ')}" did not come up: ${said}`);
}

/** A port that nothing listens on now. */
export async function freePort() {
  const { createServer } = await import('node:net');
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
