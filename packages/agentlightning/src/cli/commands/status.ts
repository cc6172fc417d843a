import { resolve } from 'node:path';
import type { Command } from 'commander';
import { reportLine } from '../../metrics/index.ts';
import type { MetricsEvent } from '../../metrics/metrics.ts';
import { withStore } from '../find-store.ts';
import { readJsonLines } from '../json-lines.ts';
import { runFolder } from '../stack.ts';

export function registerStatus(program: Command): void {
  program
    .command('status')
    .description('show the runs of a store')
    .option('--store <file>', 'store to look at', '.agl/store.db')
    .option('--json', 'as one JSON object')
    .addHelpText('after', '\nExample:\n  agl status --store examples/calculator/.agl/store.db\n')
    .action(async (flags: { store: string; json?: boolean }) => {
      const path = resolve(flags.store);
      const all = await withStore(path, (store) => store.listRuns());
      const runs = all.filter(({ config }) => !('preflightOf' in config));
      const rows = await Promise.all(
        runs.map(async ({ id, state, createdAt, endedAt }) => {
          const events = await readJsonLines<MetricsEvent>(`${runFolder(path, id)}/metrics.jsonl`);
          // The store opens for one process alone, so nobody else is running it.
          const now = state === 'running' ? 'interrupted' : state;
          return {
            id,
            state: now,
            createdAt,
            endedAt,
            last: events.findLast(({ kind }) => kind !== 'checkpoint') ?? null,
          };
        }),
      );
      if (flags.json) process.stdout.write(`${JSON.stringify({ store: path, runs: rows })}\n`);
      else for (const row of rows) process.stdout.write(`${describe(row)}\n`);
    });
}

function describe(row: { id: string; state: string; createdAt: number; last: MetricsEvent | null }): string {
  const began = new Date(row.createdAt).toISOString().slice(0, 19).replace('T', ' ');
  return `${row.id}  ${row.state.padEnd(11)}  ${began} UTC  ${row.last ? reportLine(row.last) : 'no figures yet'}`;
}
