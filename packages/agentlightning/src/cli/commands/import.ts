import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type ImportCounts, importArchive } from '../../store/archive/index.ts';
import { describeStore, openTables } from '../../store/index.ts';
import { holdsTrajectories } from '../atif/files.ts';
import { importTrajectories } from '../atif/read.ts';
import { storeLocation } from '../find-store.ts';
import { stopSignal } from '../stop-signal.ts';

interface ImportFlags {
  store: string;
  keep?: boolean;
  json?: boolean;
}

export function registerImport(program: Command): void {
  program
    .command('import')
    .description('put what `agl export` wrote into a store: all of it or nothing, and once however often it runs')
    .argument(
      '<path>',
      'an archive: a file of JSON lines or a folder of Parquet files; or trajectories (ATIF): a JSON file or a folder of them',
    )
    .option('--store <location>', 'a file, made when it does not exist, or postgres://…', '.agl/store.db')
    .option('--keep', 'where the store has something else under an id, keep it; else that is an error')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExample:\n  agl import run.jsonl --store postgres://agl@db.example.com/agl\n')
    .action(async (path: string, flags: ImportFlags) => {
      const location = storeLocation(flags.store);
      const tables = await openTables(location, 'write');
      try {
        const conflicts = flags.keep ? 'keep' : 'refuse';
        const request = { path: resolve(path), now: Date.now(), conflicts, signal: stopSignal() } as const;
        const read = (await holdsTrajectories(request.path)) ? importTrajectories : importArchive;
        const counts = await read(tables, request);
        const text = `${path} → ${describeStore(location)}\n${countLines(counts)}`;
        process.stdout.write(`${flags.json ? JSON.stringify({ store: describeStore(location), counts }) : text}\n`);
      } finally {
        await tables.close();
      }
    });
}

function countLines(counts: ImportCounts): string {
  const lines = Object.entries(counts).map(([table, { added, present, kept }]) => {
    const rest = [
      ...(present > 0 ? [`${present} there already`] : []),
      ...(kept > 0 ? [`${kept} kept as they are`] : []),
    ];
    return `  ${added} ${table}${rest.length > 0 ? ` (${rest.join(', ')})` : ''}`;
  });
  return lines.length === 0 ? '  nothing' : lines.join('\n');
}
