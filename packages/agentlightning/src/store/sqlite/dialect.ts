import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely';
import { assertStorable } from '../sql/index.ts';
import { translating } from './driver-errors.ts';
import type { Database, Statement } from './statements.ts';

/** Kysely's SQLite dialect over the API of `node:sqlite`. Driver errors come out as errors of the store. */
export function sqliteDialect({ database, path }: { database: Database; path: string }): Dialect {
  return {
    createDriver: () => new Driver(database, path),
    createQueryCompiler: () => new QueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** Row locks are left out: a write transaction has the whole file to itself. */
class QueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(): void {}
}

class Driver extends SqliteDriver {
  readonly #database: Database;

  constructor(database: Database, path: string) {
    super({ database: new CachingDatabase(database, path) });
    this.#database = database;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** SQLite has rolled back by itself after some errors, a full disk among them; a second rollback would hide the first error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await super.rollbackTransaction(connection);
  }
}

/** More than the store has different statements; lists of different length make a few more. */
const maxStatements = 256;

class CachingDatabase implements SqliteDatabase {
  readonly #database: Database;
  readonly #path: string;
  /** Least recently used first. */
  readonly #statements = new Map<string, AdaptedStatement>();

  constructor(database: Database, path: string) {
    this.#database = database;
    this.#path = path;
  }

  prepare(sql: string): SqliteStatement {
    const statement = this.#statements.get(sql) ?? this.#compile(sql);
    this.#statements.delete(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #compile(sql: string): AdaptedStatement {
    if (this.#statements.size >= maxStatements) {
      const [oldest] = this.#statements.keys();
      this.#statements.delete(oldest!);
    }
    return translating(this.#path, () => new AdaptedStatement(this.#database.prepare(sql), this.#path));
  }
}

class AdaptedStatement implements SqliteStatement {
  readonly reader: boolean;
  readonly #statement: Statement;
  readonly #path: string;

  constructor(statement: Statement, path: string) {
    this.#statement = statement;
    this.#path = path;
    this.reader = statement.columns().length > 0;
  }

  all(parameters: readonly unknown[]): unknown[] {
    assertStorable(parameters);
    return translating(this.#path, () => this.#statement.all(...parameters));
  }

  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    assertStorable(parameters);
    return translating(this.#path, () => this.#statement.run(...parameters));
  }

  iterate(parameters: readonly unknown[]): IterableIterator<unknown> {
    assertStorable(parameters);
    return translating(this.#path, () => this.#statement.iterate(...parameters));
  }
}
