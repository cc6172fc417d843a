/**
 * Entry of a warm child: imports one module and calls one of its functions again and again, one call at a time.
 * Every call gets its own environment variables, and finds none of an earlier one.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { CallMessage, ChildMessage, LoadMessage, ParentMessage } from './protocol.ts';

type UserFunction = (argument: unknown, context: { signal: AbortSignal }) => unknown;

const channel = process.send?.bind(process);
// Some programs behave differently when they see that they were forked, and the channel is not the agent's.
delete process.send;

/** Which call a promise or timer was started by: a late failure is then not blamed on the next call. */
const origin = new AsyncLocalStorage<string>();
let current: { id: string; abort: AbortController } | null = null;
let userFunction: UserFunction | null = null;
let result: LoadMessage['result'] = 'value';

process.on('disconnect', () => process.exit());
new Worker(new URL('./watchdog-worker.js', import.meta.url), { workerData: process.ppid }).unref();
process.on('uncaughtException', failedUncaught);
process.on('unhandledRejection', failedUncaught);
process.on('exit', () => {
  const id = origin.getStore();
  if (id !== undefined) send({ type: 'exiting', id });
});
process.on('message', (message: ParentMessage) => {
  if (message.type === 'load') void load(message);
  else if (message.type === 'call') void call(message);
  else if (message.id === current?.id) current.abort.abort(new Error('The time of this attempt is over.'));
});

async function load(message: LoadMessage): Promise<void> {
  result = message.result;
  try {
    const exports = await importModule(message.module);
    const found = exports[message.exportName];
    if (typeof found === 'function') {
      userFunction = found as UserFunction;
      send({ type: 'ready' });
    } else {
      const names = Object.keys(exports).join(', ') || 'nothing';
      send({
        type: 'refused',
        code: 'export_missing',
        message: `its export "${message.exportName}" is ${found === undefined ? 'missing' : `a ${typeof found}`}; it exports ${names}`,
      });
    }
  } catch (error) {
    send({ type: 'refused', code: 'module_failed', message: explain(error) });
  }
}

async function importModule(path: string): Promise<Record<string, unknown>> {
  if (/\.[cm]?tsx?$/.test(path)) {
    const { createJiti } = await import('jiti'); // Only here: it is slow to load.
    return createJiti(import.meta.url, { interopDefault: false }).import(path);
  }
  return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
}

async function call({ id, argument, environment }: CallMessage): Promise<void> {
  const abort = new AbortController();
  const before = { environment: { ...process.env }, folder: process.cwd() };
  current = { id, abort };
  Object.assign(process.env, environment);
  let answer: ChildMessage;
  try {
    const value = await origin.run(id, () => userFunction?.(argument, { signal: abort.signal }));
    // One turn, so that a promise this call left rejected is reported as its own failure.
    await turn();
    answer = { type: 'returned', id, value: result === 'text' ? toText(value) : value };
  } catch (error) {
    answer = { type: 'threw', id, message: explain(error) };
  }
  await flushReports();
  restore(before);
  current = null;
  send(answer);
}

/** What the agent reported with our client leaves before its attempt, and so its key, ends. Never rejects. */
async function flushReports(): Promise<void> {
  const flush = (globalThis as Record<symbol, unknown>)[Symbol.for('agentlightning.flush')];
  if (typeof flush === 'function') await flush();
}

function restore(before: { environment: NodeJS.ProcessEnv; folder: string }): void {
  for (const name of Object.keys(process.env)) if (!(name in before.environment)) delete process.env[name];
  Object.assign(process.env, before.environment);
  process.chdir(before.folder);
}

function failedUncaught(error: unknown): void {
  const id = origin.getStore();
  if (current !== null && (id === undefined || id === current.id)) {
    send({ type: 'crashed', id: current.id, message: explain(error) }, () => process.exit(1));
  } else {
    send({ type: 'leaked', message: explain(error) });
  }
}

function send(message: ChildMessage, sent?: () => void): void {
  try {
    channel?.(message, undefined, undefined, sent);
  } catch (error) {
    // A returned value that cannot be cloned, for instance one with a function in it.
    if (message.type === 'returned') send({ type: 'threw', id: message.id, message: explain(error) });
  }
}

function toText(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? null);
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.stack?.includes(error.message) ? error.stack : `${error.message}\n${error.stack ?? ''}`;
}
