/**
 * Entry of a child process: runs one query on a database that it cannot change. Nothing but reading is authorised, so a
 * query of an agent can neither attach another file nor write one.
 */
import { existsSync, readFileSync } from 'node:fs';
import { constants, DatabaseSync } from '@photostructure/sqlite';
import type { SqlRows, SqlValue } from './sql-rows.ts';

export interface SqlQuestion {
  /** Absolute path without its ending: `.sqlite` or `.db` is a database, `.sql` the script that makes one. */
  database: string;
  query: string;
  maxRows: number;
}

/** `refused`: the query does not run, or gives more rows than asked for. `broken`: the database itself cannot be used. */
export type SqlAnswer = { rows: SqlRows } | { refused: string } | { broken: string };

type Database = InstanceType<typeof DatabaseSync>;

const opened = new Map<string, Database>();
const reading = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);

export function answer({ database, query, maxRows }: SqlQuestion): SqlAnswer {
  let source: Database;
  try {
    source = open(database);
  } catch (error) {
    return { broken: (error as Error).message };
  }
  try {
    return read(source, query, maxRows);
  } catch (error) {
    return { refused: (error as Error).message };
  }
}

function open(path: string): Database {
  let database = opened.get(path);
  if (database) return database;
  const file = ['.sqlite', '.db'].map((ending) => path + ending).find(existsSync);
  database = file === undefined ? fromScript(`${path}.sql`) : new DatabaseSync(file, { readOnly: true });
  database.setAuthorizer((action) => (reading.has(action) ? constants.SQLITE_OK : constants.SQLITE_DENY));
  opened.set(path, database);
  return database;
}

function fromScript(path: string): Database {
  const database = new DatabaseSync(':memory:');
  database.exec(readFileSync(path, 'utf8'));
  return database;
}

function read(database: Database, query: string, maxRows: number): SqlAnswer {
  const statement = database.prepare(query);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const rows: SqlRows = [];
  for (const row of statement.iterate() as Iterable<readonly unknown[]>) {
    if (rows.length === maxRows) return { refused: `It gives more than ${maxRows} rows.` };
    rows.push(row.map(plain));
  }
  return { rows };
}

function plain(value: unknown): SqlValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString('hex')}`;
  return value as SqlValue;
}
