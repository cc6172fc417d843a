/**
 * The schema of `agl.config.*`, its loading, and task files: everything a person writes, checked before any work starts.
 * Must not know what runs with it: no store, engine, gateway or controller is made here.
 */
export { defineConfig } from './define-config.ts';
export { type ConfigOverrides, type LoadedConfig, loadConfig, parseConfig } from './load.ts';
export type { Config, ConfigInput } from './schema.ts';
export { compareTaskSets } from './task-overlap.ts';
export type { RequiredField } from './task-row.ts';
export { loadTasks, type TaskFileOptions } from './tasks.ts';
