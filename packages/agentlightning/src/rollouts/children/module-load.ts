import type { ChildProcess } from 'node:child_process';
import type { ChildMessage, LoadMessage } from './protocol.ts';

/** The module cannot be used: it failed to load, lacks the function, or did not load in time. */
export class ModuleLoadError extends Error {
  readonly code: 'module_failed' | 'export_missing' | 'start_timeout';

  constructor(code: ModuleLoadError['code'], message: string) {
    super(message);
    this.name = 'ModuleLoadError';
    this.code = code;
  }
}

/**
 * Has a fresh child import the module.
 * @throws {ModuleLoadError}
 */
export function loadModule(child: ChildProcess, message: LoadMessage, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error: ModuleLoadError | null) => {
      clearTimeout(timer);
      child.off('message', onMessage).off('exit', onExit).off('error', onError);
      if (error) reject(error);
      else resolve();
    };
    const onMessage = (answer: ChildMessage) => {
      if (answer.type === 'ready') settle(null);
      if (answer.type === 'refused') settle(new ModuleLoadError(answer.code, answer.message));
    };
    const onExit = (exitCode: number | null, signal: string | null) => {
      const how = exitCode === null ? `by ${signal}` : `with exit code ${exitCode}`;
      settle(new ModuleLoadError('module_failed', `its process ended ${how} while loading it`));
    };
    const onError = (error: Error) => settle(new ModuleLoadError('module_failed', error.message));
    const timer = setTimeout(
      () => settle(new ModuleLoadError('start_timeout', `it was not loaded within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    child.on('message', onMessage).on('exit', onExit).on('error', onError);
    child.send(message, () => {});
  });
}
