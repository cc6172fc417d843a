import { dirname } from 'node:path';
import { ModuleLoadError } from '../children/module-load.ts';
import { createModulePool } from '../children/module-pool.ts';
import { type Grader, GraderError } from './grader.ts';
import { rewardValue } from './reward-value.ts';

const startTimeoutMs = 30_000;

export interface ModuleGraderOptions {
  /** Absolute path. */
  module: string;
  export: string;
  timeoutSeconds: number;
  cwd?: string | undefined;
}

/**
 * A function of the user's own, `({ task, output, failure, calls }, { signal }) => number | null`, called in warm child
 * processes of its own: it can hang or crash without harm, and no agent can reach it. It has our whole environment.
 */
export function createModuleGrader(options: ModuleGraderOptions): Grader {
  const pool = createModulePool({
    module: options.module,
    exportName: options.export,
    result: 'value',
    environment: process.env,
    cwd: options.cwd ?? dirname(options.module),
    startTimeoutMs,
  });
  return {
    name: 'module',
    wantsCalls: true,
    async grade({ attemptId, task, output, failure, workspace, calls, signal }) {
      const question = { task, output, failure, workspace, calls };
      const timeoutMs = options.timeoutSeconds * 1000;
      const { end, log } = await pool
        .call({ id: attemptId, argument: question, environment: {}, timeoutMs, graceMs: 0, signal })
        .catch((error: unknown) => {
          if (!(error instanceof ModuleLoadError)) throw error;
          const code = error.code === 'start_timeout' ? 'grader_timeout' : 'grader_crash';
          throw new GraderError(code, `${options.module} cannot be used as the grader: ${error.message}`);
        });
      switch (end.kind) {
        case 'returned':
          return rewardValue(end.value, log);
        case 'timeout':
          throw new GraderError('grader_timeout', `The grader ran longer than ${options.timeoutSeconds} s.`, log);
        case 'threw':
        case 'crashed':
          throw new GraderError(
            'grader_crash',
            `The grader threw: ${end.message.split('\n', 1)[0]}`,
            log + end.message,
          );
        case 'aborted':
          throw new GraderError('grader_crash', 'The grading was stopped.', log);
        default:
          throw new GraderError('grader_crash', `The grader's process ended (${end.kind}).`, log);
      }
    },
    close: () => pool.close(),
  };
}
