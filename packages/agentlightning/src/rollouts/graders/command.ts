import { type CommandResult, runCommand } from '../children/command.ts';
import { type Grader, GraderError } from './grader.ts';
import { rewardValue } from './reward-value.ts';

export interface CommandGraderOptions {
  command: string | readonly string[];
  timeoutSeconds: number;
  cwd?: string | undefined;
}

const graceMs = 1000;

/** A command that reads `{ task, output, failure, calls }` as JSON on standard input and prints the reward, or `null`, as its last line. */
export function createCommandGrader(options: CommandGraderOptions): Grader {
  return {
    name: 'command',
    wantsCalls: true,
    async grade({ task, output, failure, workspace, calls, signal }) {
      const { end, lastLine, log } = await runCommand({
        command: options.command,
        cwd: options.cwd ?? process.cwd(),
        environment: process.env,
        timeoutMs: options.timeoutSeconds * 1000,
        graceMs,
        signal,
        stdin: JSON.stringify({ task, output, failure, workspace, calls }),
      });
      return commandReward({ end, lastLine, log }, options.timeoutSeconds);
    },
    close: () => Promise.resolve(),
  };
}

/**
 * The last line of a command, as a reward.
 * @throws {GraderError} when the command did not end well, or printed none
 */
export function commandReward({ end, lastLine, log }: CommandResult, timeoutSeconds: number): number | null {
  switch (end.kind) {
    case 'exited':
      if (end.exitCode === 0) return parseReward(lastLine?.text ?? '', log);
      throw new GraderError('grader_crash', `The grader ended with exit code ${end.exitCode}.`, log);
    case 'timeout':
      throw new GraderError('grader_timeout', `The grader ran longer than ${timeoutSeconds} s.`, log);
    case 'spawn_failed':
      throw new GraderError('grader_crash', `The grader could not be started: ${end.message}`, log);
    case 'exceeded':
      throw new GraderError('grader_crash', end.limit.message, log);
    case 'aborted':
      throw new GraderError('grader_crash', 'The grading was stopped.', log);
    case 'signalled':
      throw new GraderError('grader_crash', `The grader was ended by ${end.signal}.`, log);
  }
}

function parseReward(line: string, log: string): number | null {
  if (line === 'null') return null;
  const value = line === '' ? Number.NaN : Number(line);
  return rewardValue(Number.isNaN(value) ? line : value, log);
}
