import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { AgentLightningError } from '../../errors.ts';
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
      const rows = await readRuns(path);
      if (flags.json) process.stdout.write(`${JSON.stringify({ store: path, runs: rows })}\n`);
      else for (const row of rows) process.stdout.write(`${describe(row)}\n`);
    });
}

interface Row {
  id: string;
  state: string;
  createdAt: number | null;
  last: MetricsEvent | null;
}

async function readRuns(path: string): Promise<Row[]> {
  try {
    const runs = await withStore(path, (store) => store.listRuns());
    return await Promise.all(
      runs
        .filter(({ config }) => !('preflightOf' in config))
        .map(async ({ id, state, createdAt }) => {
          // The store opens for one process alone, so nobody else is running it.
          const now = state === 'running' ? 'interrupted' : state;
          return { id, state: now, createdAt, last: await lastFigures(path, id) };
        }),
    );
  } catch (error) {
    if (!AgentLightningError.isInstance(error) || error.code !== 'store_in_use') throw error;
    return readRunsInUse(path);
  }
}

/** While a run has the store, its folder tells how far it is; the figures that were written last are those of the run. */
async function readRunsInUse(path: string): Promise<Row[]> {
  const folder = dirname(runFolder(path, '-'));
  const ids = existsSync(folder) ? await readdir(folder) : [];
  const runs = await Promise.all(
    ids.map(async (id) => ({
      id,
      last: await lastFigures(path, id),
      writtenAt: (await stat(`${runFolder(path, id)}/metrics.jsonl`).catch(() => null))?.mtimeMs ?? 0,
    })),
  );
  return runs
    .sort((a, b) => b.writtenAt - a.writtenAt)
    .map(({ id, last }, index) => ({ id, state: index === 0 ? 'running' : 'not running', createdAt: null, last }));
}

async function lastFigures(path: string, id: string): Promise<MetricsEvent | null> {
  const events = await readJsonLines<MetricsEvent>(`${runFolder(path, id)}/metrics.jsonl`);
  return events.findLast(({ kind }) => kind !== 'checkpoint') ?? null;
}

function describe({ id, state, createdAt, last }: Row): string {
  const began = createdAt === null ? '' : `${new Date(createdAt).toISOString().slice(0, 19).replace('T', ' ')} UTC  `;
  return `${id}  ${state.padEnd(11)}  ${began}${last ? reportLine(last) : 'no figures yet'}`;
}
