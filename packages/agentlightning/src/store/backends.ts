import { type ArchiveDatabase, ArchiveError } from './archive/index.ts';
import { StoreError } from './errors.ts';
import { describeHttpLocation, openHttpLocation } from './http/index.ts';
import { describeLocation } from './postgres/location.ts';
import { openSqliteStore, openSqliteTables } from './sqlite/index.ts';
import type { Store } from './store.ts';

interface Backend {
  /** As in a URL, with the colon; null: a path. */
  protocols: readonly string[] | null;
  open(location: string): Promise<Store>;
  /** The tables, to export and import them. */
  openTables(location: string, mode: 'read' | 'write'): Promise<ArchiveDatabase>;
  /** Without secrets. */
  describe(location: string): string;
}

/** Where a store can be. */
const backends: readonly Backend[] = [
  {
    protocols: ['postgres:', 'postgresql:'],
    // Loaded when it is asked for: most runs need no driver.
    open: async (url) => (await import('./postgres/index.ts')).openPostgresStore({ url }),
    openTables: async (url) => (await import('./postgres/index.ts')).openPostgresTables(url),
    describe: describeLocation,
  },
  {
    protocols: ['http:', 'https:'],
    open: async (url) => openHttpLocation(url),
    openTables: async (url) => {
      throw new ArchiveError({
        code: 'no_database',
        message: `Archives go into the database itself, and ${describeHttpLocation(url)} is a server in front of it.`,
        hint: 'Give the postgres://… URL that the server has, or its file while the server is stopped.',
      });
    },
    describe: describeHttpLocation,
  },
  {
    protocols: null,
    open: (path) => openSqliteStore({ path }),
    openTables: async (path, mode) => openSqliteTables(path, mode),
    describe: (path) => path,
  },
];

/**
 * @param location path of an SQLite file, `postgres://…`, or `http://…` of a server with the store's API (key: AGL_STORE_KEY)
 * @throws {StoreError} what is wrong with it
 */
export async function openStore(location: string): Promise<Store> {
  return await backendOf(location).open(location);
}

/**
 * The tables of a store, for `exportArchive` (`read`: beside whoever has it open) and `importArchive` (`write`). Of a server see `receiveArchive`.
 *
 * @throws {StoreError} as {@link openStore}; {@link ArchiveError} `no_database` for an address of a server
 */
export async function openTables(location: string, mode: 'read' | 'write'): Promise<ArchiveDatabase> {
  return await backendOf(location).openTables(location, mode);
}

/** For people and for what is kept of a run: without secrets. */
export function describeStore(location: string): string {
  return backendOf(location).describe(location);
}

/** Whether the store is behind a server's HTTP API. */
export function isServer(location: string): boolean {
  return ['http:', 'https:'].includes(protocolOf(location) ?? '');
}

/** False for the path of a file. */
export function isStoreUrl(location: string): boolean {
  return protocolOf(location) !== null;
}

function backendOf(location: string): Backend {
  const protocol = protocolOf(location);
  const found = backends.find(({ protocols }) =>
    protocol === null ? protocols === null : protocols?.includes(protocol),
  );
  if (found) return found;
  throw new StoreError({
    code: 'not_a_store',
    category: 'user',
    message: `A store cannot be at an address that begins with ${protocol}//.`,
    hint: `Give the path of a file, or a URL with ${backends.flatMap(({ protocols }) => protocols ?? []).join(' or ')}.`,
  });
}

/** Of more than one letter: the drive of a path is no protocol. */
function protocolOf(location: string): string | null {
  return /^([a-z][a-z0-9+.-]+:)\/\//i.exec(location)?.[1]?.toLowerCase() ?? null;
}
