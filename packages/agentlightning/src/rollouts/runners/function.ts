import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure } from '../../store/types.ts';
import { longestTimerMs } from '../children/limits.ts';
import { failed } from '../failures.ts';
import { secretsOf } from '../redact.ts';
import type { AgentExit, AttemptWork, FunctionAgent, FunctionContext, Runner } from './runner.ts';

/** For a function that has been told by its signal that the time is over. */
const graceMs = 1000;

type End =
  | { kind: 'returned'; value: unknown }
  | { kind: 'threw'; error: unknown }
  | { kind: 'timeout' }
  | { kind: 'aborted' };

/**
 * Calls a function of this process, `(task, context) => output`, many at a time. What they share is all of the process, so
 * nothing is set in `process.env`: the way to the model is in the context. Nothing can end a function that goes on after its
 * signal; its attempt ends all the same, and its key with it.
 */
export function createFunctionRunner(agent: FunctionAgent): Runner {
  return {
    name: 'function',
    secrets: secretsOf(agent.env ?? {}),
    async run(work) {
      return toExit(await call(agent, work), agent);
    },
    close: () => Promise.resolve(),
  };
}

async function call(
  agent: FunctionAgent,
  { input, variables, attemptId, workspace, signal }: AttemptWork,
): Promise<End> {
  if (signal.aborted) return { kind: 'aborted' };
  const over = new AbortController();
  const settled = new AbortController();
  const cutShort = (): End => ({ kind: signal.aborted ? 'aborted' : 'timeout' });
  const cut = async (): Promise<End> => {
    await aborted(over.signal, settled.signal);
    await sleep(graceMs, undefined, { signal: settled.signal });
    return cutShort();
  };
  const timer = setTimeout(
    () => over.abort(new Error('The time of this attempt is over.')),
    Math.min(agent.timeoutSeconds * 1000, longestTimerMs),
  );
  const stop = () => over.abort(signal.reason);
  signal.addEventListener('abort', stop);
  const context: FunctionContext = {
    ...wayToModel(variables),
    attemptId,
    rolloutId: variables.AGL_ROLLOUT_ID ?? '',
    variables: { ...agent.env, ...variables },
    workspace,
    signal: over.signal,
  };
  try {
    // A copy: what the function does to its task must not reach the grader, or the next attempt.
    const answer = Promise.resolve()
      .then(() => agent.run(structuredClone(input), context))
      .then((value): End => ({ kind: 'returned', value }))
      .catch((error: unknown): End => ({ kind: 'threw', error }));
    const end = await Promise.race([answer, cut().catch(cutShort)]);
    // An answer that arrives after the time is over changes nothing.
    return over.signal.aborted ? cutShort() : end;
  } finally {
    settled.abort();
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** @throws when `settled` comes first */
function aborted(signal: AbortSignal, settled: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(), { signal: settled });
    settled.addEventListener('abort', () => reject(new Error('settled')), { once: true });
  });
}

function wayToModel(variables: AttemptWork['variables']): Pick<FunctionContext, 'openai' | 'anthropic' | 'model'> {
  const { OPENAI_BASE_URL = '', OPENAI_API_KEY: apiKey = '', ANTHROPIC_BASE_URL = '', AGL_MODEL = '' } = variables;
  return {
    openai: { baseURL: OPENAI_BASE_URL, apiKey },
    anthropic: { baseURL: ANTHROPIC_BASE_URL, apiKey },
    model: AGL_MODEL,
  };
}

function toExit(end: End, agent: FunctionAgent): AgentExit {
  const nothing = { output: null, exitCode: null, lastLine: null, log: '' };
  if (end.kind === 'threw') {
    const log = end.error instanceof Error ? (end.error.stack ?? end.error.message) : String(end.error);
    return { ...nothing, failure: threw(end.error), exitCode: 1, log: `${log}\n` };
  }
  if (end.kind === 'timeout') {
    return { ...nothing, failure: failed('run_timeout', `The agent ran longer than ${agent.timeoutSeconds} s.`) };
  }
  if (end.kind === 'aborted') return { ...nothing, failure: failed('controller_stopped', 'The attempt was stopped.') };
  try {
    return { ...nothing, failure: null, output: toText(end.value), exitCode: 0 };
  } catch (error) {
    return { ...nothing, failure: threw(error), exitCode: 1, log: `${String(error)}\n` };
  }
}

function threw(error: unknown): Failure {
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  return failed('exit_code', `The agent threw: ${message}`);
}

/** @throws {TypeError} for what is no JSON, such as a circle */
function toText(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? null);
}
