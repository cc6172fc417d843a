import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Starts a Node script of this folder and waits for the line that it prints when it is ready. */
export async function startScript(name, args = []) {
  const script = new URL(name, import.meta.url).pathname;
  const child = spawn(process.execPath, [script, ...args.map(String)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, ready: JSON.parse(line) };
}

/** Starts a program and waits until `url` answers. */
export async function startProgram(command, args, { url, env = {}, cwd, log }) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', log, log] });
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
    if (
      await fetch(url).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return child;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  child.kill('SIGKILL');
  throw new Error(`${command} did not answer ${url}`);
}

/** Resident memory of a process in bytes (Linux), null elsewhere. */
export function residentBytes(pid) {
  try {
    const kibibytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kibibytes) * 1024;
  } catch {
    return null;
  }
}
