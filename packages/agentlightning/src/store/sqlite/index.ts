/**
 * One SQLite file as the store: opening, owner lock, migrations, and the driver behind Kysely.
 * It must not know what the tables mean to anybody: that is sql/.
 */
export { openMemoryStore, openMemoryTables, openSqliteReader, openSqliteStore, openSqliteTables } from './open.ts';
