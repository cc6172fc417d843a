import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { drainer } from './drain.ts';
import { callModule, type ModuleCall, type ModuleEnd } from './module-call.ts';
import { loadModule, ModuleLoadError } from './module-load.ts';
import { captureOutput, type Output } from './output.ts';
import { adoptGroup, buryGroup } from './process-group.ts';
import type { ChildMessage, LoadMessage } from './protocol.ts';
import { hasChildren, killStragglers } from './stragglers.ts';

export interface ModuleChildOptions extends Omit<LoadMessage, 'type'> {
  /** The environment between calls. */
  environment: Readonly<Record<string, string | undefined>>;
  cwd: string;
  startTimeoutMs: number;
  /** Ends a child that is still starting. */
  signal: AbortSignal;
}

export interface ModuleResult extends Output {
  end: ModuleEnd;
}

export interface ModuleChild {
  call(call: ModuleCall): Promise<ModuleResult>;
  /** False once it must not be called again. */
  usable(): boolean;
  kill(): Promise<void>;
}

/**
 * Starts a warm child, in its own process group, and has it import the module.
 * @throws {ModuleLoadError}
 */
export async function startModuleChild(options: ModuleChildOptions): Promise<ModuleChild> {
  const { environment, cwd, startTimeoutMs, signal, ...module } = options;
  const child = fork(new URL('./module-worker.js', import.meta.url), [], {
    cwd,
    env: { ...environment },
    execArgv: [],
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { pid } = child;
  if (pid === undefined) {
    const [error] = (await once(child, 'error')) as [Error];
    throw new ModuleLoadError('module_failed', error.message);
  }
  adoptGroup(pid);
  const output = captureOutput(child);
  const drain = drainer(child);
  // A channel that breaks is reported here as well as by the exit; without a listener it would end our own process.
  child.on('error', () => {});
  let usable = true;
  child.on('message', (message: ChildMessage) => {
    if (message.type === 'leaked') usable = false;
  });
  child.once('exit', () => {
    usable = false;
    buryGroup(pid);
  });

  const kill = async () => {
    usable = false;
    buryGroup(pid);
    await drain();
  };

  const abandon = () => buryGroup(pid);
  signal.addEventListener('abort', abandon);
  try {
    await loadModule(child, { type: 'load', ...module }, startTimeoutMs);
  } catch (error) {
    await kill();
    const { log } = output.read();
    if (error instanceof ModuleLoadError && log !== '') error.message += `\n${log.trimEnd()}`;
    throw error;
  } finally {
    signal.removeEventListener('abort', abandon);
  }

  return {
    kill,
    usable: () => usable,
    async call(request) {
      output.reset(request.onOutput);
      const end = await callModule(child, request);
      if (end.kind !== 'returned' && end.kind !== 'threw') await kill();
      // What was written before the answer is in the pipe by now, and is read within this turn of the event loop.
      else await turn();
      if (!usable || hasChildren(pid)) await killStragglers(request.id);
      return { end, ...output.read() };
    },
  };
}
