import { z } from 'zod';
import {
  type Algorithm,
  algorithms,
  commonOptions,
  defineAlgorithm,
  type OptionsSchema,
  sequence,
} from '../algorithms/index.ts';
import { type AlgorithmConfig, importModule, type OneAlgorithm } from '../config/index.ts';
import { UserError } from '../errors.ts';

export interface LoadedAlgorithm {
  algorithm: Algorithm;
  options: z.output<OptionsSchema>;
}

/**
 * The algorithm that a configuration names, and its options with their defaults.
 * @throws {UserError} `algorithm_not_found`, `algorithm_invalid`, `algorithm_options_invalid` for a module of the user's
 */
export async function loadAlgorithm(config: AlgorithmConfig): Promise<LoadedAlgorithm> {
  if (Array.isArray(config)) return sequence(await Promise.all(config.map(loadOne)));
  return loadOne(config);
}

async function loadOne(config: OneAlgorithm): Promise<LoadedAlgorithm> {
  if ('module' in config) return loadOwn(config);
  const { name, ...options } = config;
  return { algorithm: algorithms.find((each) => each.name === name)!, options };
}

async function loadOwn({ module: file, export: exported, ...given }: Extract<OneAlgorithm, { module: string }>) {
  // An algorithm may import this package by name even when it is not installed beside it.
  const exports = await importModule(file, { agentlightning: { commonOptions, defineAlgorithm } });
  const algorithm = exports[exported];
  if (algorithm === undefined) {
    throw new UserError({
      code: 'algorithm_not_found',
      message: `${file} has no export "${exported}".`,
      hint: 'Write `export const algorithm = defineAlgorithm({ … })`, or name the export in algorithm.export.',
    });
  }
  if (!isAlgorithm(algorithm)) {
    throw new UserError({
      code: 'algorithm_invalid',
      message: `The export "${exported}" of ${file} is no algorithm: it needs name, options, setup and step.`,
      hint: 'Make it with `defineAlgorithm({ name, summary, options, setup, step })`.',
    });
  }
  const parsed = algorithm.options.safeParse(given);
  if (parsed.success) return { algorithm, options: parsed.data };
  throw new UserError({
    code: 'algorithm_options_invalid',
    message: `The options of the algorithm "${algorithm.name}" have mistakes:\n${z.prettifyError(parsed.error)}`,
    hint: `${file} says which options there are.`,
  });
}

function isAlgorithm(value: unknown): value is LoadedAlgorithm['algorithm'] {
  if (typeof value !== 'object' || value === null) return false;
  const { name, options, setup, step } = value as Record<string, unknown>;
  const parses = typeof (options as { safeParse?: unknown } | undefined)?.safeParse === 'function';
  return typeof name === 'string' && parses && typeof setup === 'function' && typeof step === 'function';
}
