import { resolve } from 'node:path';
import { isHubReference } from '@agentlightning/engine';
import type { Command } from 'commander';
import { uuidv7 } from 'uuidv7';
import { loadConfig } from '../../config/index.ts';
import { storeLocation } from '../find-store.ts';
import { number, wholeNumber } from '../numbers.ts';
import { type ConfigOverrides, collectOverride, withPath } from '../overrides.ts';
import { presentRun } from '../present-run.ts';

interface TrainFlags {
  set?: ConfigOverrides;
  steps?: number;
  seed?: number;
  learningRate?: number;
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
    .option('--steps <n>', 'updates to make', wholeNumber)
    .option('--seed <n>', 'seed of tasks, sampling and initial adapters', wholeNumber)
    .option('--learning-rate <x>', 'peak learning rate; 0 trains nothing and so shows what chance alone does', number)
    .option('--tasks <file>', 'training tasks, JSONL')
    .option('--validation <file>', 'held-out tasks, JSONL')
    .option('--model <folder>', 'the policy to start from; also a GGUF file or hf:owner/name')
    .option('--store <location>', 'where the run is kept: a file, or postgres://…')
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
  const given: [value: unknown, path: string[]][] = [
    [flags.steps, ['algorithm', 'steps']],
    [flags.learningRate, ['algorithm', 'learningRate']],
    [flags.seed, ['seed']],
    [absolute(flags.tasks), ['tasks', 'train']],
    [absolute(flags.validation), ['tasks', 'validation']],
    [modelSource(flags.model), ['policy', 'model']],
    [flags.store === undefined ? undefined : storeLocation(flags.store), ['store']],
  ];
  return given
    .filter(([value]) => value !== undefined)
    .reduce((overrides, [value, path]) => withPath(overrides, path, value), flags.set ?? {});
}

const modelSource = (model: string | undefined) =>
  model !== undefined && isHubReference(model) ? model : absolute(model);
const absolute = (path: string | undefined) => (path === undefined ? undefined : resolve(path));
