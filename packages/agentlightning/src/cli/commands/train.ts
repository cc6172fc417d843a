import { resolve } from 'node:path';
import type { Command } from 'commander';
import { uuidv7 } from 'uuidv7';
import { loadConfig } from '../../config/index.ts';
import { type ConfigOverrides, collectOverride, withPath } from '../overrides.ts';
import { presentRun } from '../present-run.ts';

interface TrainFlags {
  set?: ConfigOverrides;
  steps?: string;
  seed?: string;
  learningRate?: string;
  tasks?: string;
  validation?: string;
  model?: string;
  store?: string;
  json?: boolean;
}

export function registerTrain(program: Command): void {
  program
    .command('train')
    .description('train the policy behind an agent')
    .argument('[config]', 'agl.config.{ts,mjs,js,json}, or the folder that holds it', '.')
    .option('--steps <n>', 'updates to make')
    .option('--seed <n>', 'seed of tasks, sampling and initial adapters')
    .option('--learning-rate <x>', 'peak learning rate; 0 trains nothing and so shows what chance alone does')
    .option('--tasks <file>', 'training tasks, JSONL')
    .option('--validation <file>', 'held-out tasks, JSONL')
    .option('--model <folder>', 'the policy to start from')
    .option('--store <file>', 'where the run is kept')
    .option('--set <key=value>', 'any other key of the configuration, may be repeated', collectOverride)
    .option('--json', 'one JSON object a line instead of text; the last one is the summary')
    .addHelpText('after', '\nExample:\n  agl train examples/calculator --steps 20 --set validation.every=10\n')
    .action(async (path: string, flags: TrainFlags) => {
      const { config } = await loadConfig(path, overridesOf(flags));
      await presentRun({ config, runId: uuidv7(), resume: null, json: flags.json ?? false });
    });
}

/** Paths on the command line are relative to where the command was given. */
function overridesOf(flags: TrainFlags): ConfigOverrides {
  const given: [keyof TrainFlags, string[], (value: string) => unknown][] = [
    ['steps', ['algorithm', 'steps'], Number],
    ['learningRate', ['algorithm', 'learningRate'], Number],
    ['seed', ['seed'], Number],
    ['tasks', ['tasks', 'train'], (value) => resolve(value)],
    ['validation', ['tasks', 'validation'], (value) => resolve(value)],
    ['model', ['policy', 'model'], (value) => resolve(value)],
    ['store', ['store'], (value) => resolve(value)],
  ];
  return given.reduce((overrides, [flag, key, read]) => {
    const value = flags[flag];
    return typeof value === 'string' ? withPath(overrides, key, read(value)) : overrides;
  }, flags.set ?? {});
}
