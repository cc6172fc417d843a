import { spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';

export interface PodProcess {
  /** As the shell counts: 128 and the signal's number for one that was killed. */
  ended: Promise<{ exitCode: number }>;
  /** SIGTERM, and SIGKILL after the grace. */
  end(graceMs: number): Promise<void>;
  kill(): void;
}

const numbers: Partial<Record<NodeJS.Signals, number>> = { SIGKILL: 9, SIGTERM: 15, SIGSEGV: 11, SIGINT: 2 };

/** A container's command in a process group of its own, with the environment of the container and nothing else but a PATH. */
export function startProcess(options: {
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  folder: string;
  log: string;
}): PodProcess {
  const log = openSync(options.log, 'a');
  const [program = 'true', ...args] = options.command;
  const env = { PATH: process.env.PATH, ...options.environment };
  const child = spawn(program, args, { cwd: options.folder, env, detached: true, stdio: ['ignore', log, log] });
  const ended = new Promise<{ exitCode: number }>((resolve) => {
    child.on('error', (error) => {
      writeSync(log, `${error.message}\n`);
      closeSync(log);
      resolve({ exitCode: 127 });
    });
    child.on('exit', (code, signal) => {
      signalGroup('SIGKILL');
      closeSync(log);
      resolve({ exitCode: code ?? 128 + ((signal && numbers[signal]) || 0) });
    });
  });
  function signalGroup(signal: NodeJS.Signals): void {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // Nobody of it is left.
    }
  }
  return {
    ended,
    async end(graceMs) {
      signalGroup('SIGTERM');
      const timer = setTimeout(() => signalGroup('SIGKILL'), graceMs);
      await ended;
      clearTimeout(timer);
    },
    kill: () => signalGroup('SIGKILL'),
  };
}
