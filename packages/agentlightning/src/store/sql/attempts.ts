import type { Kysely } from 'kysely';
import { NotFoundError } from '../errors.ts';
import type { AttemptFilter, Page, PageRequest } from '../queries.ts';
import type { Attempt } from '../types.ts';
import { pageBounds, toPage } from './pages.ts';
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

/** In order of their ids, which is that of time. */
export async function queryAttempts(db: Database, query: AttemptFilter & PageRequest): Promise<Page<Attempt>> {
  const { after, ...rest } = query;
  const bounds = pageBounds(rest);
  let select = db.selectFrom('attempts').selectAll().orderBy('id', bounds.direction).limit(bounds.rows);
  if (after !== undefined) select = select.where('id', bounds.comparison, after);
  if (query.runId !== undefined) select = select.where('run_id', '=', query.runId);
  if (query.rolloutId !== undefined) select = select.where('rollout_id', '=', query.rolloutId);
  if (query.workerId !== undefined) select = select.where('worker_id', '=', query.workerId);
  if (query.states !== undefined) select = select.where('state', 'in', query.states);
  return toPage(await select.execute(), bounds, toAttempt);
}

/** What a record of an attempt needs to know of it. `late`: it is fenced, so what comes now is not counted. */
export async function ownerOf(
  db: Database,
  attemptId: string,
): Promise<{ rolloutId: string; runId: string; late: 0 | 1 }> {
  const row = await db
    .selectFrom('attempts')
    .innerJoin('rollouts', 'rollouts.id', 'attempts.rollout_id')
    .select(['attempts.rollout_id', 'attempts.fenced', 'rollouts.run_id'])
    .where('attempts.id', '=', attemptId)
    .executeTakeFirst();
  if (!row) throw new NotFoundError('attempt', attemptId);
  return { rolloutId: row.rollout_id, runId: row.run_id, late: row.fenced };
}

/** @throws {NotFoundError} */
export async function requireAttempt(db: Database, id: string): Promise<AttemptRow> {
  const row = await db.selectFrom('attempts').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) throw new NotFoundError('attempt', id);
  return row;
}
