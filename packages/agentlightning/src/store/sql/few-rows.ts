import { type Kysely, sql } from 'kysely';
import type { TimeRange } from '../queries.ts';
import type { StoreSchema } from './schema.ts';

/** More rows than that are quick to meet on a walk through all of them in their order. */
export const fewRows = 2000;

/**
 * A range of time that leaves few rows would be looked for in all of them, because pages are in order of `seq`. Its rows by the index
 * of the time, or null: they are not few, or the range has no bound.
 */
export async function fewOfRange(
  db: Kysely<StoreSchema>,
  { table, column, range }: { table: 'calls' | 'rollouts'; column: string; range: TimeRange | undefined },
): Promise<number[] | null> {
  const { from, to } = range ?? {};
  if (from === undefined && to === undefined) return null;
  const time = sql.ref(column);
  const { rows } = await sql<{ seq: number }>`
    select seq from ${sql.table(table)}
    where ${time} >= ${from ?? Number.MIN_SAFE_INTEGER} and ${time} < ${to ?? Number.MAX_SAFE_INTEGER}
    limit ${fewRows + 1}`.execute(db);
  return rows.length > fewRows ? null : rows.map(({ seq }) => seq);
}
