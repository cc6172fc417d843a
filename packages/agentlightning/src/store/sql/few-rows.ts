import { type Kysely, sql } from 'kysely';
import type { TimeRange } from '../queries.ts';
import type { PageBounds } from './pages.ts';
import type { StoreSchema } from './schema.ts';

/** More rows than that are quick to meet on a walk through all of them in their order. */
export const fewRows = 2000;

/** Of so many rows the index of the time tells where they lie sooner than a walk through a large table meets the first of them. */
const manyRows = 20_000;

/** Places (`seq`) of rows within a range of time: all of them, or where the first and the last one is. */
export type Places = { all: number[] } | { first: number; last: number };

/**
 * Pages are in order of `seq`, and a range of time would be looked for in all rows before it. The index of the time knows better.
 *
 * @returns null: the range has no bound, or so many rows that it does not matter
 */
export async function placesOfRange(
  db: Kysely<StoreSchema>,
  { table, column, range }: { table: 'calls' | 'rollouts'; column: string; range: TimeRange | undefined },
): Promise<Places | null> {
  const { from, to } = range ?? {};
  if (from === undefined && to === undefined) return null;
  const time = sql.ref(column);
  const within = (limit: number) => sql<{ seq: number }>`
    select seq from ${sql.table(table)}
    where ${time} >= ${from ?? Number.MIN_SAFE_INTEGER} and ${time} < ${to ?? Number.MAX_SAFE_INTEGER}
    limit ${limit}`;
  const { rows } = await within(fewRows + 1).execute(db);
  if (rows.length <= fewRows) return { all: rows.map(({ seq }) => seq) };
  const ends = await sql<{ first: number; last: number; count: number }>`
    select min(seq) as first, max(seq) as last, count(*) as count from (${within(manyRows + 1)}) as found`.execute(db);
  const { first, last, count } = ends.rows[0]!;
  return Number(count) > manyRows ? null : { first: Number(first), last: Number(last) };
}

/** A page that begins no earlier than the first of these places, in its direction. */
export function boundsWithin(bounds: PageBounds, places: Places | null): PageBounds {
  if (places === null || 'all' in places) return bounds;
  const beyond =
    bounds.direction === 'asc' ? Math.max(bounds.beyond, places.first - 1) : Math.min(bounds.beyond, places.last + 1);
  return { ...bounds, beyond };
}
