import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import { defineConfig } from './define-config.ts';
import { ConfigError } from './errors.ts';
import { findConfigFile, requireFiles, resolvePaths } from './files.ts';
import { importModule } from './import-module.ts';
import { checkJudge } from './judge.ts';
import { describeMistakes } from './mistakes.ts';
import { configuredPrompts, withPromptTexts } from './prompts.ts';
import { type Config, configSchema } from './schema.ts';

export interface LoadedConfig {
  config: Config;
  /** Absolute path of the file it came from. */
  file: string;
}

/** Values that win over the file's, as nested objects (`{ algorithm: { steps: 5 } }`). Give file paths in them as absolute ones. */
export type ConfigOverrides = { readonly [key: string]: unknown };

/**
 * Reads `agl.config.ts`, `.mjs`, `.js` or `.json`, from a file or from the folder that holds it.
 * @returns the effective configuration, its file paths absolute and proven to exist
 * @throws {ConfigError} naming the file and every wrong field
 */
export async function loadConfig(pathOrFolder: string, overrides: ConfigOverrides = {}): Promise<LoadedConfig> {
  const file = await findConfigFile(pathOrFolder);
  const written = await evaluate(file);
  const config = parseConfig(merge(written, overrides), { source: basename(file), folder: dirname(file) });
  checkJudge(config, basename(file));
  await requireFiles(config, basename(file));
  config.prompts = await withPromptTexts(config.prompts);
  configuredPrompts(config.prompts, [config.policy?.name ?? [], ...config.models.map(({ alias }) => alias)].flat());
  return { config, file };
}

/**
 * Checks a configuration value and fills in the defaults; relative file paths are taken from `folder`.
 * Also for a run's stored configuration, whose paths are absolute already.
 */
export function parseConfig(value: unknown, { source, folder }: { source: string; folder: string }): Config {
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return resolvePaths(parsed.data, (path) => resolve(folder, path));
  const mistakes = describeMistakes(parsed.error.issues, value);
  throw new ConfigError({
    code: 'config_invalid',
    message:
      mistakes.length === 1
        ? `${source}: ${mistakes[0]}`
        : `${source} has ${mistakes.length} mistakes:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`,
    hint: 'Every key is explained in docs/configuration.md.',
  });
}

async function evaluate(file: string): Promise<unknown> {
  if (extname(file) === '.json') return parseJson(await readFile(file, 'utf8'), file);
  const exports = await importModule(file, { agentlightning: { defineConfig } });
  if (exports.default === undefined) {
    throw new ConfigError({
      code: 'config_no_default_export',
      message: `${file} has no default export.`,
      hint: 'Write `export default defineConfig({ … })`.',
    });
  }
  return exports.default;
}

function parseJson(source: string, file: string): unknown {
  try {
    return JSON.parse(source.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new ConfigError({
      code: 'config_unreadable',
      message: `${file} is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint: 'Mend the JSON, or use agl.config.mjs, where comments and trailing commas are fine.',
      cause,
    });
  }
}

function merge(base: unknown, over: unknown): unknown {
  if (!isPlainObject(base) || !isPlainObject(over)) return over === undefined ? base : over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = merge(base[key], value);
  return merged;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
