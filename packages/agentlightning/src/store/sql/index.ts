/**
 * The store's verbs in SQL, through Kysely: transactions, rows ↔ the words of types.ts, prefix sharing of calls.
 * It must not know which database it talks to: files, drivers, connections and migrations belong to sqlite/ and postgres/.
 */
export { type Access, directAccess } from './access.ts';
export { announce, announcedKinds, writeChanges } from './changes.ts';
export { type Migration, pendingMigrations } from './migration.ts';
export type { StoreSchema } from './schema.ts';
export { SqlStore } from './sql-store.ts';
export { stateCheck } from './state-check.ts';
export { assertStorable } from './storable.ts';
