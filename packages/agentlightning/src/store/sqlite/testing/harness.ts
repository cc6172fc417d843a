import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../store.ts';
import { ManualClock, type StoreHarness } from '../../testing/index.ts';
import { memoryStoreOver, openMemoryDatabase, openSqliteStore } from '../open.ts';

/** A store in a folder of its own, under a clock that stands still. */
export async function openSqliteHarness(): Promise<StoreHarness> {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const open = (): Promise<Store> => openSqliteStore({ path: join(folder.path, 'store.db'), clock: clock.read });
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
      await folder.remove();
    },
  };
}

/** A store without a file, reopened over the same memory. */
export async function openMemoryHarness(): Promise<StoreHarness> {
  const clock = new ManualClock();
  const database = openMemoryDatabase(clock.now);
  const open = (): Store => memoryStoreOver({ database, clock: clock.read, close: () => {} });
  let store = open();
  return {
    clock,
    inOrder: true,
    get store() {
      return store;
    },
    reopen: async () => {
      await store.close();
      store = open();
      return store;
    },
    dispose: async () => {
      await store.close();
      database.close();
    },
  };
}

export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'agl-store-'));
  return { path, remove: () => rm(path, { recursive: true }) };
}
