/**
 * The store: tasks, rollouts, attempts, calls, rewards, policy versions, checkpoints; the only contract between the side
 * that runs agents and the side that learns. It must not know gateways, runners, engines or algorithms.
 */
export { describeStore, isServer, isStoreUrl, openStore, openTables } from './backends.ts';
export { openHttpStore, receiveArchive, storeKey } from './http/index.ts';
export { openMemoryStore, openMemoryTables, openSqliteReader, openSqliteStore } from './sqlite/index.ts';
