import { dirname } from 'node:path';
import type { Failure } from '../../store/types.ts';
import type { ModuleEnd } from '../children/module-call.ts';
import { ModuleLoadError } from '../children/module-load.ts';
import { createModulePool } from '../children/module-pool.ts';
import { agentEnvironment } from '../environment.ts';
import { failed } from '../failures.ts';
import { secretsOf } from '../redact.ts';
import type { AgentExit, ModuleAgent, Runner } from './runner.ts';

const startTimeoutMs = 30_000;
/** For a function that has been told by its signal that the time is over. */
const graceMs = 1000;

/**
 * Calls a function of a JavaScript or TypeScript module, `(task, { signal }) => output`, in warm child processes: one attempt
 * at a time each, with the attempt's variables in `process.env` during the call. Saves the start of a process per attempt.
 */
export function createModuleRunner(agent: ModuleAgent): Runner {
  const pool = createModulePool({
    module: agent.module,
    exportName: agent.export,
    result: 'text',
    environment: agentEnvironment(process.env, agent.env),
    cwd: agent.cwd ?? dirname(agent.module),
    startTimeoutMs,
  });
  return {
    name: 'module',
    secrets: secretsOf(agent.env ?? {}),
    async run({ attemptId, input, variables, signal, onOutput = () => {} }) {
      try {
        const { end, lastLine, log } = await pool.call({
          id: attemptId,
          argument: input,
          environment: variables,
          timeoutMs: agent.timeoutSeconds * 1000,
          graceMs,
          signal,
          onOutput,
        });
        return {
          failure: toFailure(end, agent),
          output: end.kind === 'returned' ? (end.value as string | null) : null,
          exitCode: toExitCode(end),
          lastLine: lastLine?.text ?? null,
          log: 'message' in end ? `${log}${end.message}\n` : log,
        };
      } catch (error) {
        if (error instanceof ModuleLoadError) return notLoaded(error, agent);
        throw error;
      }
    },
    close: () => pool.close(),
  };
}

function toFailure(end: ModuleEnd, agent: ModuleAgent): Failure | null {
  switch (end.kind) {
    case 'returned':
      return null;
    case 'threw':
      return failed('exit_code', `The agent threw: ${firstLine(end.message)}`);
    case 'crashed':
      return failed('exit_code', `The agent left an error that nobody caught: ${firstLine(end.message)}`);
    case 'exited':
      return failed('early_exit', `The agent called process.exit(${end.exitCode}) instead of returning.`);
    case 'signalled':
      return failed('killed_by_signal', `The agent's process was ended by ${end.signal}.`);
    case 'lost':
      return failed('worker_lost', 'The process was ended by an earlier attempt that still ran in it.');
    case 'timeout':
      return failed('run_timeout', `The agent ran longer than ${agent.timeoutSeconds} s.`);
    case 'aborted':
      return failed('controller_stopped', 'The attempt was stopped.');
  }
}

/** What the same file would have ended with as a process. */
function toExitCode(end: ModuleEnd): number | null {
  if (end.kind === 'returned') return 0;
  if (end.kind === 'threw' || end.kind === 'crashed') return 1;
  return end.kind === 'exited' ? end.exitCode : null;
}

function notLoaded(error: ModuleLoadError, agent: ModuleAgent): AgentExit {
  const code = error.code === 'start_timeout' ? 'start_timeout' : 'spawn_failed';
  const failure = failed(code, `${agent.module} cannot be used: ${firstLine(error.message)}`);
  return { failure, output: null, exitCode: null, lastLine: null, log: error.message };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
