import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { describeStore } from '../../store/index.ts';
import type { ExportReport } from '../export-format.ts';
import { exportFormats } from '../export-formats.ts';
import { assertStoreExists, storeLocation } from '../find-store.ts';
import { number, positiveWhole } from '../numbers.ts';
import { stopSignal } from '../stop-signal.ts';
import type { TrainingSelection } from '../training-export/write.ts';

interface ExportFlags {
  store: string;
  format: string;
  json?: boolean;
  run?: string[];
  minReward: number;
  best?: number;
  agent?: string[];
  model?: string[];
  duplicates?: boolean;
}

export function registerExport(program: Command): void {
  const names = exportFormats.map(({ name }) => name);
  program
    .command('export')
    .description('write what a store has as files')
    .argument('<path>', 'a file or folder that does not exist yet')
    .option(
      '--store <location>',
      'a file, which may be in use, postgres://…, or http://… of a server (key: AGL_STORE_KEY)',
      '.agl/store.db',
    )
    .addOption(new Option('--format <name>', 'form of the files').choices(names).default(names[0]))
    .option('--json', 'one JSON object')
    .option('--run <id...>', 'training data: of these runs; default: all')
    .option('--min-reward <n>', 'training data: least reward of a rollout', number, 1)
    .option('--best <n>', 'training data: so many best rollouts of each group', positiveWhole)
    .option('--agent <name...>', 'training data: of these agents')
    .option('--model <name...>', 'training data: answers of these policies and models')
    .option('--duplicates', 'training data: keep equal rows')
    .addHelpText('after', `\nFormats:\n${exportFormats.map(formatLine).join('\n')}\n`)
    .addHelpText(
      'after',
      '\nExample:\n  agl export run.jsonl --store .agl/store.db\n  agl export good.jsonl --format trl --best 1\n',
    )
    .action(async (path: string, flags: ExportFlags) => {
      const store = storeLocation(flags.store);
      assertStoreExists(store);
      const format = exportFormats.find(({ name }) => name === flags.format)!;
      const report = await format.write({
        ...{ store, path: resolve(path), signal: stopSignal() },
        selection: selectionOf(flags),
      });
      const text = `${describeStore(store)} → ${path}\n${reportText(report)}`;
      process.stdout.write(`${flags.json ? JSON.stringify({ path: resolve(path), ...report }) : text}\n`);
    });
}

function selectionOf({ run, minReward, best, agent, model, duplicates }: ExportFlags): TrainingSelection {
  return {
    runs: run ?? null,
    ...{ minReward, bestPerGroup: best ?? null, agents: agent ?? null, models: model ?? null },
    deduplicate: duplicates !== true,
  };
}

function formatLine({ name, summary }: { name: string; summary: string }): string {
  return `  ${name.padEnd(15)} ${summary}`;
}

function reportText({ written, leftOut = {} }: ExportReport): string {
  const lines = Object.entries(written).map(([kind, count]) => `  ${count} ${kind}`);
  const omissions = Object.entries(leftOut).map(([reason, count]) => `  ${count} left out: ${reason}`);
  return [...(lines.length === 0 ? ['  nothing'] : lines), ...omissions].join('\n');
}
