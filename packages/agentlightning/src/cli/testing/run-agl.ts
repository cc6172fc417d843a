import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const agl = fileURLToPath(new URL('../../../bin/agl.js', import.meta.url));

export interface AglResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunningAgl {
  child: ChildProcessWithoutNullStreams;
  ended: Promise<AglResult>;
  /** Standard output so far. */
  output(): string;
  /** Resolves when a line of standard output matches. */
  line(pattern: RegExp): Promise<void>;
}

/** Starts the real command, in its own process. */
export function startAgl(args: string[], env: Record<string, string> = {}): RunningAgl {
  const child = spawn(process.execPath, [agl, ...args], { env: { ...process.env, ...env } });
  const result = { stdout: '', stderr: '' };
  const waiting: { pattern: RegExp; resolve: () => void }[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    result.stdout += text;
    for (const { pattern, resolve } of waiting) if (pattern.test(result.stdout)) resolve();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    result.stderr += text;
  });
  return {
    child,
    output: () => result.stdout,
    ended: new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve({ ...result, code, signal }));
    }),
    line: (pattern) =>
      new Promise((resolve, reject) => {
        waiting.push({ pattern, resolve });
        child.on('close', () => reject(new Error(`agl ended without ${pattern}: ${result.stdout}${result.stderr}`)));
      }),
  };
}

export function runAgl(args: string[], env: Record<string, string> = {}): Promise<AglResult> {
  return startAgl(args, env).ended;
}

/** The JSON lines that `--json` printed. */
export function jsonLines(stdout: string): { [key: string]: unknown }[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { [key: string]: unknown });
}
