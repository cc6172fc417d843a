import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Child {
  process: ChildProcess;
  /** Lines that it has written so far, whole ones only. */
  lines: string[];
  /** Resolves when there are `count` lines. Rejects when it ends before. */
  written(count: number): Promise<void>;
  /** kill -9, and waits until it is gone and all it wrote is read. */
  kill(): Promise<void>;
}

/** Starts a compiled program of the tests in a process of its own. */
export function startProgram(script: URL, args: string[]): Child {
  const child = spawn(process.execPath, [fileURLToPath(script), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const closed = once(reader, 'close');
  reader.on('line', (line) => lines.push(line));
  return {
    process: child,
    lines,
    written: async (count) => {
      while (lines.length < count) {
        const ended = closed.then(() => {
          throw new Error(`The child ended after ${lines.length} lines.`);
        });
        await Promise.race([once(reader, 'line'), ended]);
      }
    },
    kill: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
