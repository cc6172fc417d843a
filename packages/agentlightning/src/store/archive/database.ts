import type { Kysely, Transaction } from 'kysely';
import type { StoreSchema } from '../sql/index.ts';

/** A store as its tables: what export and import work on. */
export interface ArchiveDatabase {
  /** For messages, without secrets. */
  name: string;
  /** All that `work` reads is of one moment, whatever others write meanwhile. */
  snapshot<T>(work: (db: Kysely<StoreSchema>) => Promise<T>): Promise<T>;
  /** One transaction: all or nothing. `work` runs again when the database had to undo it. */
  write(work: (db: Transaction<StoreSchema>) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}
