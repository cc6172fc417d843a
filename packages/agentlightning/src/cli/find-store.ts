import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { AgentLightningError, UserError } from '../errors.ts';
import { describeStore, isStoreUrl, openSqliteReader, openStore } from '../store/index.ts';
import type { Store } from '../store/store.ts';

/** What `--store` names: a path becomes absolute, a URL stays as it is. */
export function storeLocation(flag: string): string {
  return isStoreUrl(flag) ? flag : resolve(flag);
}

/** @throws {UserError} `store_not_found` */
export function assertStoreExists(location: string): void {
  if (isStoreUrl(location) || existsSync(location)) return;
  throw new UserError({
    code: 'store_not_found',
    message: `There is no store at ${describeStore(location)}.`,
    hint: 'Give the file that `agl train` wrote with --store; by default it is .agl/store.db beside agl.config.',
  });
}

/** Opens a store that must exist, lets `use` work with it, and closes it. */
export async function withStore<T>(location: string, use: (store: Store) => Promise<T>): Promise<T> {
  assertStoreExists(location);
  const store = await openStore(location);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/**
 * As {@link withStore}, for those who only read: a file that another process owns is read along with that.
 *
 * @param use `shared`: others may be writing meanwhile
 */
export async function readStore<T>(
  location: string,
  use: (store: Store, place: { shared: boolean }) => Promise<T>,
): Promise<T> {
  assertStoreExists(location);
  const { store, shared } = await openForReading(location);
  try {
    return await use(store, { shared });
  } finally {
    await store.close();
  }
}

async function openForReading(location: string): Promise<{ store: Store; shared: boolean }> {
  try {
    return { store: await openStore(location), shared: isStoreUrl(location) };
  } catch (error) {
    const inUse = AgentLightningError.isInstance(error) && error.code === 'store_in_use';
    const store = inUse ? openSqliteReader(location) : null;
    if (store === null) throw error;
    return { store, shared: true };
  }
}
