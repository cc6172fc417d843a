import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Config, parseConfig } from '../../config/index.ts';
import { UserError } from '../../errors.ts';
import type { Run } from '../../store/types.ts';
import { withStore } from '../find-store.ts';
import { presentRun } from '../present-run.ts';

export function registerResume(program: Command): void {
  program
    .command('resume')
    .description('go on with a training run from its last checkpoint')
    .argument('[run]', 'id of the run; default: the newest one that has not finished')
    .option('--store <file>', 'where the run is kept', '.agl/store.db')
    .option('--json', 'one JSON object a line instead of text; the last one is the summary')
    .addHelpText('after', '\nExample:\n  agl resume --store examples/calculator/.agl/store.db\n')
    .action(async (runId: string | undefined, flags: { store: string; json?: boolean }) => {
      const run = await findRun(resolve(flags.store), runId);
      const config: Config = parseConfig(run.config, { source: `the configuration of run ${run.id}`, folder: '/' });
      await presentRun({
        config,
        runId: run.id,
        json: flags.json ?? false,
        resume: async ({ store }) => {
          const checkpoint = await store.latestCheckpoint(run.id);
          if (checkpoint) return checkpoint;
          throw new UserError({
            code: 'no_checkpoint',
            message: `Run ${run.id} ended before its first checkpoint.`,
            hint: 'There is nothing to go on from: start it again with `agl train`.',
          });
        },
      });
    });
}

function findRun(path: string, runId: string | undefined): Promise<Run> {
  return withStore(path, async (store) => {
    const runs = await store.listRuns();
    const run = runs.find(({ id, state }) => (runId === undefined ? state !== 'finished' : id === runId));
    if (run) return run;
    throw new UserError({
      code: 'run_not_found',
      message: runId === undefined ? `${path} has no unfinished run.` : `${path} has no run ${runId}.`,
      hint:
        runs.length > 0
          ? `Its runs: ${runs.map(({ id, state }) => `${id} (${state})`).join(', ')}.`
          : 'It has no runs.',
    });
  });
}
