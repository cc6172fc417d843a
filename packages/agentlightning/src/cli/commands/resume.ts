import type { Command } from 'commander';
import { UserError } from '../../errors.ts';
import { describeStore, isStoreUrl } from '../../store/index.ts';
import type { Run } from '../../store/types.ts';
import { storeLocation, withStore } from '../find-store.ts';
import { configOfRun } from '../kept-config.ts';
import { presentRun } from '../present-run.ts';

export function registerResume(program: Command): void {
  program
    .command('resume')
    .description('go on with a training run from its last checkpoint')
    .argument('[run]', 'id of the run; default: the newest one that has not finished')
    .option('--store <location>', 'where the run is kept', '.agl/store.db')
    .option('--config <path>', 'where the agent is, for a run whose agent is a function of its configuration')
    .option('--json', 'one JSON object a line instead of text; the last one is the summary')
    .addHelpText('after', '\nExample:\n  agl resume --store examples/calculator/.agl/store.db\n')
    .action(async (runId: string | undefined, flags: { store: string; config?: string; json?: boolean }) => {
      const location = storeLocation(flags.store);
      const run = await findRun(location, runId);
      const config = await configOfRun(run, flags.config);
      if (isStoreUrl(location)) config.store = location; // the run was kept without the password
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

function findRun(location: string, runId: string | undefined): Promise<Run> {
  return withStore(location, async (store) => {
    const runs = await store.listRuns();
    const run = runs.find(({ id, state }) => (runId === undefined ? state !== 'finished' : id === runId));
    if (run) return run;
    throw new UserError({
      code: 'run_not_found',
      message: `${describeStore(location)} has no ${runId === undefined ? 'unfinished run' : `run ${runId}`}.`,
      hint:
        runs.length > 0
          ? `Its runs: ${runs.map(({ id, state }) => `${id} (${state})`).join(', ')}.`
          : 'It has no runs.',
    });
  });
}
