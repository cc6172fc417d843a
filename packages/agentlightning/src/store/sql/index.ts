/**
 * The store's verbs in SQL, through Kysely: transactions, rows ↔ the words of types.ts, prefix sharing of calls.
 * It must not know which database it talks to: files, drivers, pragmas and migrations belong to sqlite/.
 */
export type { StoreSchema } from './schema.ts';
export { SqlStore } from './sql-store.ts';
