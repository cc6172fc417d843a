import { DatabaseSync } from '@photostructure/sqlite';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { migrate } from '../sqlite/migrate.ts';
import { query } from '../sqlite/statements.ts';
import { openPostgresStore } from './open.ts';
import { storeUrl } from './testing/index.ts';

const bookkeeping = ['schema_migrations', 'commits'];
const typeOf: Record<string, string> = {
  INTEGER: 'bigint',
  REAL: 'double precision',
  BLOB: 'bytea',
  TEXT: 'text',
};

describe('the tables', () => {
  it('are those of SQLite, column by column, with the same indexes', async () => {
    const url = storeUrl();
    await (await openPostgresStore({ url })).close();
    const schema = new URL(url).searchParams.get('schema');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const columns = await client.query<{ told: string }>(
      `select table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable as told
       from information_schema.columns where table_schema = $1 and table_name <> all ($2)`,
      [schema, bookkeeping],
    );
    const indexes = await client.query<{ indexname: string }>(
      'select indexname from pg_indexes where schemaname = $1 and tablename <> all ($2)',
      [schema, bookkeeping],
    );
    await client.end();

    const database = new DatabaseSync(':memory:');
    migrate(database, { path: ':memory:', now: 0 });
    const expected = query<{ table: string; name: string; type: string; notnull: number; pk: number }>(
      database,
      `select m.name as "table", c.name, c.type, c."notnull", c.pk from sqlite_schema m, pragma_table_info(m.name) c
       where m.type = 'table' and m.name not like 'sqlite_%' and m.name not in ('schema_migrations')`,
    ).map(({ table, name, type, notnull, pk }) => `${table}.${name} ${typeOf[type]} ${notnull || pk ? 'NO' : 'YES'}`);
    expect(columns.rows.map(({ told }) => told).sort()).toEqual(expected.sort());

    const named = query<{ name: string }>(
      database,
      "select name from sqlite_schema where type = 'index' and name not like 'sqlite_%'",
    );
    const made = indexes.rows.map(({ indexname }) => indexname).filter((name) => !/_(key|pkey)$/.test(name));
    expect(made.sort()).toEqual(named.map(({ name }) => name).sort());
    database.close();
  });
});
