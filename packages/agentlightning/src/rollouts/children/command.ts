import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { drainer } from './drain.ts';
import { longestTimerMs } from './limits.ts';
import { captureOutput, type Output } from './output.ts';
import { adoptGroup, buryGroup, signalGroup } from './process-group.ts';
import { type ExceededLimit, type ResourceLimits, underFileLimit, watchLimits } from './resource-limits.ts';
import { killStragglers } from './stragglers.ts';

export interface CommandOptions {
  /** A string goes through the shell; a list is run as it is. */
  command: string | readonly string[];
  cwd: string;
  /** The whole environment. */
  environment: Readonly<Record<string, string | undefined>>;
  timeoutMs: number;
  /** Between SIGTERM and SIGKILL. */
  graceMs: number;
  signal: AbortSignal;
  stdin?: string;
  /** When given, processes that escaped from the group are found by it. */
  attemptId?: string;
  /** Called whenever the command prints something. */
  onOutput?: () => void;
  limits?: ResourceLimits;
  /** The folder that `limits.diskMiB` is about. */
  workspace?: string | null;
}

export type CommandEnd =
  | { kind: 'exited'; exitCode: number }
  | { kind: 'signalled'; signal: string }
  | { kind: 'timeout' }
  | { kind: 'aborted' }
  | { kind: 'exceeded'; limit: ExceededLimit }
  | { kind: 'spawn_failed'; message: string };

export interface CommandResult extends Output {
  end: CommandEnd;
}

/**
 * Runs a command to its end and leaves nothing of it behind: the whole process group ends with its leader, by timeout or
 * abort with SIGTERM, a grace time and SIGKILL. Output is read as fast as it comes and only its end is kept. Never throws.
 */
export async function runCommand(options: CommandOptions): Promise<CommandResult> {
  const nothing: Output = { lastLine: null, log: '' };
  if (options.signal.aborted) return { end: { kind: 'aborted' }, ...nothing };
  const started = await start(options);
  if ('message' in started) return { end: { kind: 'spawn_failed', message: started.message }, ...nothing };

  const { child, pid } = started;
  const output = captureOutput(child, options.onOutput);
  const drain = drainer(child);
  const end = await ended(child, pid, options);
  buryGroup(pid);
  if (options.attemptId !== undefined) await killStragglers(options.attemptId);
  await drain();
  return { end, ...output.read() };
}

async function start(options: CommandOptions): Promise<{ child: ChildProcess; pid: number } | { message: string }> {
  const { cwd, environment: env, stdin, limits = {} } = options;
  const command = underFileLimit(options.command, limits);
  const [file = '', ...args] = typeof command === 'string' ? [command] : command;
  try {
    const child = spawn(file, args, {
      cwd,
      env,
      shell: typeof command === 'string',
      detached: true,
      windowsHide: true,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const { pid } = child;
    if (pid === undefined) {
      const [error] = (await once(child, 'error')) as [Error];
      return { message: error.message };
    }
    adoptGroup(pid);
    // A child that does not read its input breaks the pipe; that is its own affair.
    child.stdin?.on('error', () => {}).end(stdin);
    return { child, pid };
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}

/** Waits for the leader to exit, and makes it exit when the time is over or the signal aborts. */
async function ended(child: ChildProcess, pid: number, options: CommandOptions): Promise<CommandEnd> {
  let cut: CommandEnd | null = null;
  let kill: NodeJS.Timeout | undefined;
  const stop = (reason: 'timeout' | 'aborted') => {
    if (cut !== null) return;
    cut = { kind: reason };
    signalGroup(pid, 'SIGTERM');
    kill = setTimeout(() => signalGroup(pid, 'SIGKILL'), options.graceMs);
  };
  const abort = () => stop('aborted');
  const onExceeded = (limit: ExceededLimit) => {
    cut ??= { kind: 'exceeded', limit };
    // No grace: what passes a limit is harming others already.
    signalGroup(pid, 'SIGKILL');
  };
  const { limits = {}, workspace = null } = options;
  const watch = watchLimits(pid, limits, { workspace, onExceeded });
  const timer = setTimeout(() => stop('timeout'), Math.min(options.timeoutMs, longestTimerMs));
  options.signal.addEventListener('abort', abort);
  if (options.signal.aborted) abort();
  try {
    const [exitCode, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (cut !== null) return cut;
    return exitCode === null ? { kind: 'signalled', signal: signal ?? 'unknown' } : { kind: 'exited', exitCode };
  } finally {
    watch.stop();
    clearTimeout(timer);
    clearTimeout(kill);
    options.signal.removeEventListener('abort', abort);
  }
}
