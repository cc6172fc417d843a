import { type Kysely, sql } from 'kysely';
import type { StoreSchema } from '../sql/index.ts';

/**
 * The clock of the database server: with leases from several machines, one clock must say when they end. Read now and
 * then, and counted on from there by this machine's own.
 */
export class ServerClock {
  #offsetMs = 0;

  /** UTC, whole milliseconds. */
  readonly read = (): number => Math.round(Date.now() + this.#offsetMs);

  async synchronise(db: Kysely<StoreSchema>): Promise<void> {
    const before = Date.now();
    const { rows } = await sql<{
      ms: number;
    }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db);
    const middle = (before + Date.now()) / 2;
    this.#offsetMs = rows[0]!.ms - middle;
  }
}
