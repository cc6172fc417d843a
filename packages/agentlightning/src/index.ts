/** Agent Lightning: the library. The command line is `agl`. */
export { type Config, type ConfigInput, defineConfig } from './config/index.ts';
export { AgentLightningError, type AgentLightningErrorOptions, type ErrorCategory, UserError } from './errors.ts';
export { openHttpStore, openMemoryStore, openSqliteStore } from './store/index.ts';
export type { Store } from './store/store.ts';
