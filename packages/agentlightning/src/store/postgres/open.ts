import { CompiledQuery, HandleEmptyInListsPlugin, Kysely, replaceWithNoncontingentExpression, sql } from 'kysely';
import pg from 'pg';
import { uuidv7 } from 'uuidv7';
import type { ArchiveDatabase } from '../archive/index.ts';
import { SqlStore, type StoreSchema } from '../sql/index.ts';
import type { Store } from '../store.ts';
import { channelOf, postgresAccess, rolloutsChanged } from './access.ts';
import { Dialect } from './dialect.ts';
import { isOutage, translateDriverError } from './driver-errors.ts';
import { Hints } from './hints.ts';
import { Listener } from './listener.ts';
import { parseLocation } from './location.ts';
import { migrate } from './migrate.ts';
import { Patience } from './patience.ts';
import { ServerClock } from './server-clock.ts';
import { parsers } from './types.ts';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database?sslmode=…&schema=…`; see docs/store.md. */
  url: string;
  /** UTC, whole milliseconds. Default: the clock of the database server. */
  clock?: () => number;
  /** Time-ordered ids. */
  ids?: () => string;
  /** Connections at the same time, beside the one that listens. Default 8. */
  connections?: number;
  /** How long the server may be away until whoever waits gets `store_unavailable`. Default two minutes. */
  outageMs?: number;
  /** How often to look without a notification. Default 5 s. */
  recheckMs?: number;
  /** False: as if every notification were lost. For tests. */
  listen?: boolean;
}

/** A server that is just starting is waited for; anything else that is wrong at the start is told at once. */
const startingUp = '57P03';
const openingMs = 30_000;
/** Those who wait look again as often at most, however much is committed. */
const hintIntervalMs = 20;
/** Longer than any outage that is waited for. */
const keepTokensFor = '1 hour';

/**
 * Opens the store in a PostgreSQL database, making its tables when there are none. Any number of processes may have it open.
 *
 * @throws {StoreError} `store_unavailable`, `schema_too_new`, `not_a_store`
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { ids = uuidv7, recheckMs = 5000, listen = true } = options;
  const { db, access, patience, sender, config, schema, name } = await openTables(options);
  const clock = new ServerClock();
  try {
    await clock.synchronise(db);
  } catch (error) {
    await db.destroy();
    throw translateDriverError(error, name);
  }

  const watch = (onHint: (rollouts: boolean) => void): (() => void) => {
    const hints = new Hints(onHint, hintIntervalMs);
    const hear = (payload: string | null): void => {
      const [from, kind] = payload?.split(' ') ?? [];
      if (from !== sender) hints.give(payload === null || kind === rolloutsChanged);
    };
    const listener = listen ? new Listener({ config, channel: channelOf(schema), onNotification: hear }) : null;
    const recheck = setInterval(() => {
      hints.give(true);
      void upkeep(db, clock).catch(() => {}); // comes round again; a server that is away is told to whoever asks for more
    }, recheckMs);
    recheck.unref();
    return () => {
      patience.end();
      clearInterval(recheck);
      hints.stop();
      listener?.stop();
    };
  };

  return new SqlStore({ access, name, clock: options.clock ?? clock.read, ids, watch, close: () => db.destroy() });
}

/** The tables alone, for export and import: reads of one moment, and transactions. @throws {StoreError} as {@link openPostgresStore} */
export async function openPostgresTables(url: string): Promise<ArchiveDatabase> {
  const { db, access, patience, name } = await openTables({ url, connections: 1 });
  return {
    name,
    // Not run again after an outage: what was read has gone somewhere already.
    snapshot: async (work) => {
      try {
        return await db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
      } catch (error) {
        throw translateDriverError(error, name);
      }
    },
    write: access.write,
    close: async () => {
      patience.end();
      await db.destroy();
    },
  };
}

/** Connected and migrated. */
async function openTables({ url, connections = 8, outageMs = 120_000 }: PostgresStoreOptions) {
  const { connectionString, schema, name } = parseLocation(url);
  const config: pg.ClientConfig = {
    connectionString,
    application_name: 'agentlightning',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    types: parsers,
  };
  const db = connect(config, { schema, connections });
  try {
    await waitForStart(() => migrate(db, { schema, name }));
  } catch (error) {
    await db.destroy();
    throw translateDriverError(error, name);
  }
  const sender = uuidv7();
  const patience = new Patience({ name, outageMs });
  const access = postgresAccess({ db, patience, schema, sender, ids: uuidv7 });
  return { db, access, patience, sender, config, schema, name };
}

function connect(
  config: pg.ClientConfig,
  { schema, connections }: { schema: string; connections: number },
): Kysely<StoreSchema> {
  const pool = new pg.Pool({ ...config, max: connections });
  // A lost connection fails the query that is under way on it; an idle one is replaced when it is needed.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const settings = [
    `set search_path to "${schema}"`,
    // What a client leaves behind that vanished without a word must not hold its locks for ever.
    "set idle_in_transaction_session_timeout to '60s'",
  ];
  return new Kysely<StoreSchema>({
    dialect: new Dialect({
      pool,
      onCreateConnection: async (connection) => {
        await connection.executeQuery(CompiledQuery.raw(settings.join('; ')));
      },
    }),
    plugins: [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })],
  });
}

async function waitForStart(work: () => Promise<void>): Promise<void> {
  const end = performance.now() + openingMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const starting = isOutage(error) && (error as { code?: string }).code === startingUp;
      if (!starting || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

async function upkeep(db: Kysely<StoreSchema>, clock: ServerClock): Promise<void> {
  await clock.synchronise(db);
  await sql`delete from commits where at < now() - ${keepTokensFor}::interval`.execute(db);
}
