import { type Command, Option } from 'commander';
import { expiredRuns, type PruneRules } from '../../store/retention.ts';
import { storeLocation, withStore } from '../find-store.ts';
import { number, wholeNumber } from '../numbers.ts';
import { pruned } from '../retention.ts';

interface PruneFlags {
  store: string;
  olderThanDays: number;
  keepRuns: number;
  remove: PruneRules['remove'];
  dryRun?: boolean;
  json?: boolean;
}

export function registerPrune(program: Command): void {
  program
    .command('prune')
    .description('remove calls, spans or all of runs that have ended')
    .option('--store <location>', 'a file, postgres://…, or http://… of a server (key: AGL_STORE_KEY)', '.agl/store.db')
    .requiredOption('--older-than-days <n>', 'runs that ended longer ago', number)
    .option('--keep-runs <n>', 'not of the newest ones, however old they are', wholeNumber, 1)
    .addOption(
      new Option('--remove <what>', 'calls with their tokens, and spans; or whole runs')
        .choices(['calls', 'runs'])
        .default('calls'),
    )
    .option('--dry-run', 'name the runs, and remove nothing')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExample:\n  agl prune --older-than-days 30 --keep-runs 10\n')
    .action((flags: PruneFlags) =>
      withStore(storeLocation(flags.store), async (store) => {
        const { keepRuns, remove } = flags;
        const rules: PruneRules = { olderThanMs: flags.olderThanDays * 86_400_000, keepRuns, remove };
        if (flags.dryRun) {
          const runs = expiredRuns(await store.listRuns(), rules, Date.now()).map(({ id }) => id);
          const text = runs.length === 0 ? 'No run is that old.' : runs.join('\n');
          process.stdout.write(`${flags.json ? JSON.stringify({ runs }) : text}\n`);
          return;
        }
        const report = await store.prune(rules);
        process.stdout.write(`${flags.json ? JSON.stringify(report) : pruned(report)}\n`);
      }),
    );
}
