import { StoreError } from '../errors.ts';
import { pendingMigrations } from '../sql/index.ts';
import { migrations } from './migrations/index.ts';
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

/** Whether this version's schema is there. @throws {StoreError} `schema_too_new` */
export function isUpToDate(database: Database, path: string): boolean {
  if (query(database, "select 1 from sqlite_schema where name = 'schema_migrations'").length === 0) return false;
  return pendingMigrations(migrations, { applied: appliedTo(database), store: path }).length === 0;
}

function appliedTo(database: Database): string[] {
  return query<{ name: string }>(database, 'select name from schema_migrations').map(({ name }) => name);
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
    for (const migration of pendingMigrations(migrations, { applied: appliedTo(database), store: path })) {
      database.exec(migration.sql);
      query(database, 'insert into schema_migrations (name, applied_at) values (?, ?)', migration.name, now);
    }
    database.exec('commit');
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
