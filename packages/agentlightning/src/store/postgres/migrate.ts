import { type Kysely, sql, type Transaction } from 'kysely';
import { pendingMigrations, type StoreSchema } from '../sql/index.ts';
import { migrations } from './migrations/index.ts';

/**
 * One transaction, under a lock: of servers that start together one makes the tables, and the others find them.
 *
 * @throws {StoreError} `schema_too_new`
 */
export async function migrate(
  db: Kysely<StoreSchema>,
  { schema, name }: { schema: string; name: string },
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`migrate ${schema}`}, 0))`.execute(transaction);
    await createSchema(transaction, schema);
    const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(transaction);
    const applied = rows.map((row) => row.name);
    for (const migration of pendingMigrations(migrations, { applied, store: name })) {
      await sql.raw(migration.sql).execute(transaction);
      await sql`insert into schema_migrations (name) values (${migration.name})`.execute(transaction);
    }
  });
}

/** Not with `if not exists`, which asks for the right to create one even where it exists. */
async function createSchema(transaction: Transaction<StoreSchema>, schema: string): Promise<void> {
  const { rows } = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(transaction);
  if (rows.length === 0) await sql`create schema ${sql.id(schema)}`.execute(transaction);
  await sql`
    create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())
  `.execute(transaction);
}
