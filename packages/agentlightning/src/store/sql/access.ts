import type { Kysely, Transaction } from 'kysely';
import { writeChanges } from './changes.ts';
import type { StoreSchema } from './schema.ts';

/** How the verbs reach the database. */
export interface Access {
  read<T>(query: (db: Kysely<StoreSchema>) => Promise<T>): Promise<T>;
  /**
   * One transaction, to the commit. `work` runs again when the database had to undo it (lost connection, deadlock): it
   * must not do anything but read and write the database.
   */
  write(work: (db: Transaction<StoreSchema>) => Promise<void>): Promise<void>;
}

/** For a database in this process, which nobody else writes to. */
export function directAccess(db: Kysely<StoreSchema>): Access {
  return {
    read: (query) => query(db),
    write: (work) =>
      db.transaction().execute(async (transaction) => {
        await work(transaction);
        await writeChanges(transaction);
      }),
  };
}
