import pg from 'pg';
import { uuidv7 } from 'uuidv7';
import type { Store } from '../../store.ts';
import { ManualClock, type StoreHarness } from '../../testing/index.ts';
import { openPostgresStore } from '../open.ts';

/** The server that `npm run test:postgres` started. */
function serverUrl(): string {
  const url = process.env.AGL_TEST_POSTGRES;
  if (url === undefined)
    throw new Error('These tests need a PostgreSQL server: run them with `npm run test:postgres`.');
  return url;
}

/** The address of a new store in the server. */
export function storeUrl(server: string = serverUrl()): string {
  return `${server}?schema=t_${uuidv7().replaceAll('-', '')}`;
}

/** A store in a schema of its own, under a clock that stands still. */
export async function openPostgresHarness(): Promise<StoreHarness> {
  const url = storeUrl();
  const clock = new ManualClock();
  const open = (): Promise<Store> => openPostgresStore({ url, clock: clock.read, connections: 3 });
  let store = await open();
  return {
    clock,
    inOrder: true,
    get store() {
      return store;
    },
    reopen: async () => {
      await store.close();
      store = await open();
      return store;
    },
    dispose: async () => {
      await store.close();
      const client = new pg.Client({ connectionString: serverUrl() });
      await client.connect();
      await client.query(`drop schema "${new URL(url).searchParams.get('schema')}" cascade`);
      await client.end();
    },
  };
}
