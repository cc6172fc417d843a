import type { Failure } from '../../store/types.ts';
import { type CommandResult, runCommand } from '../children/command.ts';
import { agentEnvironment } from '../environment.ts';
import { failed } from '../failures.ts';
import { secretsOf } from '../redact.ts';
import type { AgentExit, CommandAgent, Runner } from './runner.ts';

/** Runs any command, in any language, as a local process in a group of its own. Exit code 0 is success. */
export function createProcessRunner(agent: CommandAgent): Runner {
  const environment = agentEnvironment(process.env, agent.env);
  return {
    name: 'process',
    secrets: secretsOf(agent.env ?? {}),
    async run({ attemptId, variables, workspace, signal, onOutput = () => {} }) {
      const result = await runCommand({
        command: agent.command,
        cwd: workspace ?? agent.cwd ?? process.cwd(),
        environment: { ...environment, ...variables },
        limits: agent.limits ?? {},
        workspace,
        timeoutMs: agent.timeoutSeconds * 1000,
        graceMs: agent.graceSeconds * 1000,
        signal,
        attemptId,
        onOutput,
      });
      return toExit(result, agent);
    },
    close: () => Promise.resolve(),
  };
}

function toExit(result: CommandResult, agent: CommandAgent): AgentExit {
  const { end, lastLine, log } = result;
  const usesOutput = agent.output === 'stdout-last-line';
  const cutShort = usesOutput && end.kind === 'exited' && end.exitCode === 0 && lastLine?.tooLong === true;
  return {
    failure: cutShort
      ? failed('output_too_long', 'The last line of standard output is longer than 1 MiB.')
      : toFailure(result, agent),
    output: usesOutput && !lastLine?.tooLong ? (lastLine?.text ?? null) : null,
    exitCode: end.kind === 'exited' ? end.exitCode : null,
    lastLine: lastLine?.text ?? null,
    log,
  };
}

function toFailure({ end }: CommandResult, agent: CommandAgent): Failure | null {
  switch (end.kind) {
    case 'exited':
      return end.exitCode === 0 ? null : failed('exit_code', `The agent ended with exit code ${end.exitCode}.`);
    case 'signalled':
      return failed('killed_by_signal', `The agent was ended by ${end.signal}.`);
    case 'timeout':
      return failed('run_timeout', `The agent ran longer than ${agent.timeoutSeconds} s.`);
    case 'exceeded':
      return failed(end.limit.code, end.limit.message);
    case 'aborted':
      return failed('controller_stopped', 'The attempt was stopped.');
    case 'spawn_failed':
      return failed('spawn_failed', `The agent could not be started: ${end.message}`);
  }
}
