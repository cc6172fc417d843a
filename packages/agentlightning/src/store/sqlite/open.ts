import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { Kysely } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { ArchiveDatabase } from '../archive/index.ts';
import { StoreError } from '../errors.ts';
import { directAccess, SqlStore, type StoreSchema } from '../sql/index.ts';
import type { Store } from '../store.ts';
import { sqliteDialect } from './dialect.ts';
import { translateDriverError, translating } from './driver-errors.ts';
import { assertStoreOrEmpty, isUpToDate, migrate } from './migrate.ts';
import { type OwnerLock, takeOwnership } from './owner-lock.ts';
import type { Database } from './statements.ts';

export interface SqliteStoreOptions {
  /** Created when it does not exist, with its folder. */
  path: string;
  /** UTC, whole milliseconds. */
  clock?: () => number;
  /** Time-ordered ids. */
  ids?: () => string;
}

/**
 * Opens the store in one SQLite file. Until `close`, this process alone may have it open for writing; other programs may read.
 *
 * @throws {StoreError} `store_in_use`, `not_a_store`, `schema_too_new`, `store_corrupted`, `disk_full`, `store_unavailable`
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, clock = Date.now } = options;
  const { database, owner } = openDatabase({ path, now: clock() });
  return sqliteStoreOver({ ...options, database, owner });
}

/**
 * Reads along with the process that owns the file: what that has committed is seen, every write is refused.
 *
 * @returns null when the schema is of an earlier version, which only the owner may change
 * @throws {StoreError} as {@link openSqliteStore}, but for `store_in_use`
 */
export function openSqliteReader(path: string): Store | null {
  const opened = openForReading(path);
  if (opened === null) return null;
  const { database } = opened;
  const db = new Kysely<StoreSchema>({ dialect: sqliteDialect({ database, path }) });
  const close = async (): Promise<void> => translating(path, () => database.close());
  return new SqlStore({ access: directAccess(db), name: path, clock: Date.now, ids: uuidv7, close });
}

export interface OpenDatabase {
  database: Database;
  owner: OwnerLock;
}

/**
 * The same store without a file: gone when it is closed, or with the process. For trials and tests.
 */
export async function openMemoryStore(options: Omit<SqliteStoreOptions, 'path'> = {}): Promise<Store> {
  const database = openMemoryDatabase((options.clock ?? Date.now)());
  return memoryStoreOver({ ...options, database, close: () => database.close() });
}

/** An empty store in memory, as verbs and as tables, which whoever makes a store of something else fills. Closing the tables ends both. */
export function openMemoryTables(): { store: Store; tables: ArchiveDatabase } {
  const database = openMemoryDatabase(0);
  const store = memoryStoreOver({ database, clock: () => 0, close: () => {} });
  return { store, tables: sqliteTablesOver({ path: memoryPath, database, owner: null }) };
}

export function openMemoryDatabase(now: number): Database {
  const database = new DatabaseSync(memoryPath, { enableForeignKeyConstraints: true });
  migrate(database, { path: memoryPath, now });
  return database;
}

export function memoryStoreOver(
  options: Omit<SqliteStoreOptions, 'path'> & { database: Database; close: () => void },
): Store {
  const { database, close, clock = Date.now, ids = uuidv7 } = options;
  const db = new Kysely<StoreSchema>({ dialect: sqliteDialect({ database, path: memoryPath }) });
  return new SqlStore({ access: directAccess(db), name: 'in memory', clock, ids, close: async () => close() });
}

/** SQLite's name for no file. */
const memoryPath = ':memory:';

/** Room for the upper parts of all indexes of a large file, so that a write reads little. */
const cacheKiB = 64 * 1024;

/** Of 4 KiB: a page of an index that many commits touch is brought home and synced once for all of them. */
const checkpointPages = 4096;

/** The file, checked, owned and migrated. */
export function openDatabase({ path, now }: { path: string; now: number }): OpenDatabase {
  let database: Database | undefined;
  let owner: OwnerLock | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true });
    assertDatabaseOrNothing(path);
    database = new DatabaseSync(path, { timeout: 5000, enableForeignKeyConstraints: true });
    assertStoreOrEmpty(database, path);
    owner = takeOwnership(path);
    configure(database);
    migrate(database, { path, now });
    return { database, owner };
  } catch (error) {
    database?.close();
    owner?.release();
    throw translateDriverError(error, path);
  }
}

export function sqliteStoreOver(options: SqliteStoreOptions & OpenDatabase): Store {
  const { path, database, owner, clock = Date.now, ids = uuidv7 } = options;
  const db = new Kysely<StoreSchema>({ dialect: sqliteDialect({ database, path }) });
  const close = (): void => {
    closeDatabase(database);
    owner.release();
  };
  return new SqlStore({
    access: directAccess(db),
    name: path,
    clock,
    ids,
    close: async () => translating(path, close),
  });
}

/**
 * The tables alone, for export and import. `read` leaves the file to its owner and reads along; `write` owns it meanwhile.
 *
 * @throws {StoreError} as {@link openSqliteStore}
 */
export function openSqliteTables(path: string, mode: 'read' | 'write'): ArchiveDatabase {
  const opened = (mode === 'read' ? openForReading(path) : null) ?? openDatabase({ path, now: Date.now() });
  return sqliteTablesOver({ path, ...opened });
}

export function sqliteTablesOver({
  path,
  database,
  owner,
}: {
  path: string;
  database: Database;
  /** Null: opened for reading alone. */
  owner: OwnerLock | null;
}): ArchiveDatabase {
  const db = new Kysely<StoreSchema>({ dialect: sqliteDialect({ database, path }) });
  return {
    name: path,
    snapshot: (work) => db.transaction().execute(work),
    write: directAccess(db).write,
    close: async () =>
      translating(path, () => {
        if (owner) closeDatabase(database);
        else database.close();
        owner?.release();
      }),
  };
}

/** Null when its schema is of an earlier version, which only its owner may change. */
function openForReading(path: string): { database: Database; owner: null } | null {
  const database = translating(path, () => new DatabaseSync(path, { readOnly: true, timeout: 5000 }));
  try {
    return translating(path, () => {
      assertStoreOrEmpty(database, path);
      if (isUpToDate(database, path)) return { database, owner: null };
      database.close();
      return null;
    });
  } catch (error) {
    if (database.isOpen) database.close();
    throw error;
  }
}

/**
 * WAL with NORMAL: a commit is in the operating system's hands when it returns, so it survives a killed process;
 * the last commits before a power failure may be lost, the file stays whole.
 */
function configure(database: Database): void {
  database.exec(`pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -${cacheKiB}`);
  database.exec(`pragma wal_autocheckpoint = ${checkpointPages}`);
}

/**
 * The driver cannot finalize statements, so SQLite keeps the file open until they are garbage-collected; what it would
 * do at the last close, to bring the write-ahead log home, is done here. On a full disk the log stays, and nothing is lost.
 */
function closeDatabase(database: Database): void {
  try {
    database.exec('pragma wal_checkpoint(truncate)');
  } catch {
    // The next open reads the log.
  }
  database.close();
}

/**
 * SQLite refuses files of another kind by itself, but takes a few bytes for an empty database and would overwrite them.
 * Looked at by `stat` alone: opening and closing the file here would drop the locks that this process has on it.
 */
function assertDatabaseOrNothing(path: string): void {
  const minHeaderBytes = 100;
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || found.size === 0 || (found.isFile() && found.size >= minHeaderBytes)) return;
  throw new StoreError({
    code: 'not_a_store',
    category: 'user',
    message: `${path} is ${found.isFile() ? 'no SQLite database' : 'not a file'}.`,
    hint: 'Choose another path for the store, or move what is there away.',
  });
}
