import { type Kysely, sql, type Transaction } from 'kysely';
import { type Access, announcedKinds, type StoreSchema, writeChanges } from '../sql/index.ts';
import { isOutage } from './driver-errors.ts';
import type { Patience } from './patience.ts';

export interface AccessOptions {
  db: Kysely<StoreSchema>;
  patience: Patience;
  /** Of the tables: lock and channel are named after it. */
  schema: string;
  /** Tells its own notifications from those of others. */
  sender: string;
  /** A new token for each transaction. */
  ids: () => string;
}

/** What a notification says beside who sent it. */
export const rolloutsChanged = 'rollouts';

/**
 * Transactions of several servers run side by side. Each ends with its _seal_: its token, the lock that gives the changes
 * their numbers in the order of the commits, and the notification.
 */
export function postgresAccess({ db, patience, schema, sender, ids }: AccessOptions): Access {
  const seal = async (transaction: Transaction<StoreSchema>, token: string): Promise<void> => {
    const kind = announcedKinds(transaction).has('rollout') ? rolloutsChanged : 'other';
    await sql`
      with token as (insert into commits (token) values (${token}))
      select
        pg_advisory_xact_lock(hashtextextended(${schema}, 0)),
        pg_notify(${channelOf(schema)}, ${`${sender} ${kind}`})
    `.execute(transaction);
  };

  const commit = async (work: (transaction: Transaction<StoreSchema>) => Promise<void>): Promise<void> => {
    const token = ids();
    let sealed = false;
    try {
      await db.transaction().execute(async (transaction) => {
        await work(transaction);
        await seal(transaction, token);
        sealed = true;
        await writeChanges(transaction);
      });
    } catch (error) {
      // The connection may have been lost before the commit or after it; running the work twice would double what it adds.
      if (sealed && isOutage(error) && (await patience.run(() => hasCommitted(db, token)))) return;
      throw error;
    }
  };

  return {
    read: (query) => patience.run(() => query(db)),
    write: (work) => patience.run(() => commit(work)),
  };
}

/** Waits for the transaction that wrote the token, should it still be under way, by trying to write the same. */
async function hasCommitted(db: Kysely<StoreSchema>, token: string): Promise<boolean> {
  const { rows } =
    await sql`insert into commits (token) values (${token}) on conflict do nothing returning token`.execute(db);
  return rows.length === 0;
}

export function channelOf(schema: string): string {
  return `${schema}_changes`;
}
