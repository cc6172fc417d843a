import { existsSync } from 'node:fs';
import { UserError } from '../errors.ts';
import { openSqliteStore } from '../store/sqlite/index.ts';
import type { Store } from '../store/store.ts';

/** Opens a store that must exist, lets `use` read it, and closes it. */
export async function withStore<T>(path: string, use: (store: Store) => Promise<T>): Promise<T> {
  if (!existsSync(path)) {
    throw new UserError({
      code: 'store_not_found',
      message: `There is no store at ${path}.`,
      hint: 'Give the file that `agl train` wrote with --store; by default it is .agl/store.db beside agl.config.',
    });
  }
  const store = await openSqliteStore({ path });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
