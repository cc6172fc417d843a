import { join } from 'node:path';
import type { Command } from 'commander';
import { reportLine } from '../../metrics/index.ts';
import type { MetricsEvent } from '../../metrics/metrics.ts';
import { describeStore } from '../../store/index.ts';
import type { Page } from '../../store/queries.ts';
import type { Store } from '../../store/store.ts';
import type { Worker } from '../../store/types.ts';
import { readStore, storeLocation } from '../find-store.ts';
import { readJsonLines } from '../json-lines.ts';
import { folderOf } from '../stack.ts';

export function registerStatus(program: Command): void {
  program
    .command('status')
    .description('show the runs of a store')
    .option('--store <location>', 'store to look at: a file, postgres://… or http://…', '.agl/store.db')
    .option('--json', 'as one JSON object')
    .addHelpText('after', '\nExample:\n  agl status --store examples/calculator/.agl/store.db\n')
    .action(async (flags: { store: string; json?: boolean }) => {
      const location = storeLocation(flags.store);
      const rows = await readRuns(location);
      if (flags.json) process.stdout.write(`${JSON.stringify({ store: describeStore(location), runs: rows })}\n`);
      else for (const row of rows) process.stdout.write(`${describe(row)}\n`);
    });
}

interface Row {
  id: string;
  state: string;
  createdAt: number;
  last: MetricsEvent | null;
}

async function readRuns(location: string): Promise<Row[]> {
  const { runs, workers } = await readStore(location, async (store, { shared }) => ({
    runs: await store.listRuns(),
    // Who has a file alone knows that nobody has a run going on in it.
    workers: shared ? await liveWorkers(store) : [],
  }));
  return await Promise.all(
    runs
      .filter(({ config }) => !('preflightOf' in config))
      .map(async (run) => {
        const goesOn = workers.some((id) => id.startsWith(`${run.id}:`));
        const state = run.state === 'running' && !goesOn ? 'interrupted' : run.state;
        return { id: run.id, state, createdAt: run.createdAt, last: await lastFigures(folderOf(run, location)) };
      }),
  );
}

async function liveWorkers(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const query = { states: ['idle', 'busy'] as const satisfies Worker['state'][], limit: 1000 };
    const page: Page<Worker> = await store.queryWorkers(after === undefined ? query : { ...query, after });
    ids.push(...page.items.filter(({ aliveUntil }) => aliveUntil > Date.now()).map(({ id }) => id));
    after = page.next;
  }
  return ids;
}

async function lastFigures(folder: string): Promise<MetricsEvent | null> {
  const events = await readJsonLines<MetricsEvent>(join(folder, 'metrics.jsonl'));
  return events.findLast(({ kind }) => kind !== 'checkpoint') ?? null;
}

function describe({ id, state, createdAt, last }: Row): string {
  const began = `${new Date(createdAt).toISOString().slice(0, 19).replace('T', ' ')} UTC  `;
  return `${id}  ${state.padEnd(11)}  ${began}${last ? reportLine(last) : 'no figures yet'}`;
}
