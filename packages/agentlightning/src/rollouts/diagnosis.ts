import { AgentLightningError, type ErrorCategory } from '../errors.ts';
import type { Failure } from '../store/types.ts';

const hints: Record<string, string> = {
  exit_code: 'Run the agent by hand with OPENAI_BASE_URL and AGL_TASK set, and mend what it reports.',
  run_timeout: 'Find out what the agent waits for, or raise agent.timeoutSeconds.',
  grader_timeout: 'Find out what the grader waits for, or raise grader.timeoutSeconds.',
  gateway_error: 'Look at the model server: it fails, not the agent.',
};

const categories: Record<string, ErrorCategory> = {
  gateway_error: 'upstream',
  worker_lost: 'system',
  controller_error: 'system',
  controller_stopped: 'system',
};

/** Nothing works: says what fails, with the end of the last attempt's output. */
export function allAttemptsFail(count: number, failure: Failure, log: string): AgentLightningError {
  return new AgentLightningError({
    code: 'all_attempts_fail',
    category: categories[failure.code] ?? 'user',
    message: `${count} attempts in a row failed in the same way (${failure.code}): ${failure.message}${quoteLog(log)}`,
    hint: hints[failure.code] ?? 'Mend what the message says and start again.',
  });
}

/** The last lines of a log, set apart from the message before them. */
export function quoteLog(log: string, lines = 15): string {
  const last = log.trimEnd().split('\n').slice(-lines);
  return last.join('') === ''
    ? '\n(There was no output.)'
    : `\nThe end of the output:\n${last.map((line) => `  | ${line}`).join('\n')}`;
}
