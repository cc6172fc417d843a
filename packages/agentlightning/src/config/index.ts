/**
 * The schema of `agl.config.*`, its loading, and task files: everything a person writes, checked before any work starts.
 * Must not know what runs with it: no store, engine, gateway or controller is made here.
 */

export { type AlgorithmConfig, algorithmsOf, type OneAlgorithm } from './algorithm.ts';
export { defineConfig } from './define-config.ts';
export { importModule } from './import-module.ts';
export { loadConfig, parseConfig } from './load.ts';
export type { ModelConfig, ServerConfig } from './models.ts';
export { requirePolicy, servedModel } from './policy.ts';
export { configuredPrompts, replacementsOf } from './prompts.ts';
export type { Config, ConfigInput } from './schema.ts';
export { compareTaskSets } from './task-overlap.ts';
export { loadTasks } from './tasks.ts';
