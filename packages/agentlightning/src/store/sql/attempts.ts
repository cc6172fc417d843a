import type { Kysely } from 'kysely';
import { NotFoundError } from '../errors.ts';
import type { Attempt } from '../types.ts';
import { rolloutRows } from './rollouts.ts';
import { type AttemptRow, toAttempt } from './rows.ts';
import type { StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

export async function findAttempt(db: Database, id: string): Promise<Attempt | null> {
  const row = await db.selectFrom('attempts').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? toAttempt(row) : null;
}

export async function listAttempts(db: Database, rolloutId: string): Promise<Attempt[]> {
  await rolloutRows(db, [rolloutId]);
  const rows = await db
    .selectFrom('attempts')
    .selectAll()
    .where('rollout_id', '=', rolloutId)
    .orderBy('number')
    .execute();
  return rows.map(toAttempt);
}

/** @throws {NotFoundError} */
export async function requireAttempt(db: Database, id: string): Promise<AttemptRow> {
  const row = await db.selectFrom('attempts').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) throw new NotFoundError('attempt', id);
  return row;
}
