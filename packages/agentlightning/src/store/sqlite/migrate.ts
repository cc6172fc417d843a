import { StoreError } from '../errors.ts';
import { migrations } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';
import { type Database, query } from './statements.ts';

/** "AGLS" in the header of the file tells a store from any other SQLite file. */
const applicationId = 0x41474c53;

/** @throws {StoreError} `not_a_store` when the file is an SQLite database of something else; nothing has been changed then */
export function assertStoreOrEmpty(database: Database, path: string): void {
  const [found] = query<{ application_id: number }>(database, 'pragma application_id');
  if (found?.application_id === applicationId) return;
  if (query(database, 'select 1 from sqlite_schema limit 1').length === 0) return;
  throw new StoreError({
    code: 'not_a_store',
    category: 'user',
    message: `${path} is an SQLite database of another program.`,
    hint: 'Choose another path for the store.',
  });
}

/**
 * One transaction: a killed process leaves the file as it was.
 *
 * @throws {StoreError} `schema_too_new`
 */
export function migrate(database: Database, { path, now }: { path: string; now: number }): void {
  database.exec('begin immediate');
  try {
    database.exec(`
      pragma application_id = ${applicationId};
      create table if not exists schema_migrations (name text primary key, applied_at integer not null) strict;
    `);
    for (const migration of pending(database, path)) {
      database.exec(migration.sql);
      query(database, 'insert into schema_migrations (name, applied_at) values (?, ?)', migration.name, now);
    }
    database.exec('commit');
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}

function pending(database: Database, path: string): Migration[] {
  const rows = query<{ name: string }>(database, 'select name from schema_migrations');
  const applied = new Set(rows.map((row) => row.name));
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = [...applied].filter((name) => !known.has(name));
  if (unknown.length === 0) return migrations.filter((migration) => !applied.has(migration.name));
  throw new StoreError({
    code: 'schema_too_new',
    category: 'user',
    message: `The store ${path} was written by a newer version of this program (it has ${unknown.join(', ')}).`,
    hint: 'Update agentlightning, or use a store file that this version made.',
  });
}
