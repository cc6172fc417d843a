import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { describeStore } from '../../store/index.ts';
import { type ExportReport, exportFormats } from '../export-formats.ts';
import { assertStoreExists, storeLocation } from '../find-store.ts';
import { stopSignal } from '../stop-signal.ts';

interface ExportFlags {
  store: string;
  format: string;
  json?: boolean;
}

export function registerExport(program: Command): void {
  const names = exportFormats.map(({ name }) => name);
  program
    .command('export')
    .description('write what a store has as files')
    .argument('<path>', 'a file or folder that does not exist yet')
    .option('--store <location>', 'a file, which may be in use, or postgres://…', '.agl/store.db')
    .addOption(new Option('--format <name>', 'form of the files').choices(names).default(names[0]))
    .option('--json', 'one JSON object')
    .addHelpText('after', `\nFormats:\n${exportFormats.map(formatLine).join('\n')}\n`)
    .addHelpText('after', '\nExample:\n  agl export run.jsonl --store .agl/store.db\n')
    .action(async (path: string, flags: ExportFlags) => {
      const store = storeLocation(flags.store);
      assertStoreExists(store);
      const format = exportFormats.find(({ name }) => name === flags.format)!;
      const report = await format.write({ store, path: resolve(path), signal: stopSignal() });
      const text = `${describeStore(store)} → ${path}\n${reportText(report)}`;
      process.stdout.write(`${flags.json ? JSON.stringify({ path: resolve(path), ...report }) : text}\n`);
    });
}

function formatLine({ name, summary }: { name: string; summary: string }): string {
  return `  ${name.padEnd(10)} ${summary}`;
}

function reportText({ written, leftOut = {} }: ExportReport): string {
  const lines = Object.entries(written).map(([kind, count]) => `  ${count} ${kind}`);
  const omissions = Object.entries(leftOut).map(([reason, count]) => `  ${count} left out: ${reason}`);
  return [...(lines.length === 0 ? ['  nothing'] : lines), ...omissions].join('\n');
}
