import { type Kysely, sql } from 'kysely';
import { NotFoundError } from '../errors.ts';
import { rolloutTransitions } from '../transitions.ts';
import type { Attempt, Claim } from '../types.ts';
import { chunksOf } from './chunks.ts';
import { toAttempt, toRollout } from './rows.ts';
import { findTasks } from './runs.ts';
import type { StoreSchema } from './schema.ts';

export interface ClaimRequest {
  workerId: string;
  limit: number;
  leaseMs: number;
  runId?: string;
}

export async function claimRollouts(
  db: Kysely<StoreSchema>,
  request: ClaimRequest,
  { now, ids }: { now: number; ids: () => string },
): Promise<Claim[]> {
  if (request.limit < 1) return [];
  let oldest = db
    .selectFrom('rollouts')
    .select('seq')
    .where('state', '=', sql.lit('queued')) // a literal, because a partial index does not serve a parameter
    .orderBy('seq')
    .limit(request.limit);
  if (request.runId !== undefined) oldest = oldest.where('run_id', '=', request.runId);

  const rows = await db
    .updateTable('rollouts')
    .set((eb) => ({ state: rolloutTransitions.queued.claim, attempts: eb('attempts', '+', 1) }))
    .where('seq', 'in', oldest)
    .returningAll()
    .execute();
  if (rows.length === 0) return [];
  rows.sort((a, b) => a.seq - b.seq); // the order of RETURNING is not defined

  const attempts = new Map<string, Attempt>();
  for (const chunk of chunksOf(rows)) {
    const created = await db
      .insertInto('attempts')
      .values(
        chunk.map((row) => ({
          id: ids(),
          rollout_id: row.id,
          number: row.attempts,
          state: 'running' as const,
          failure: null,
          worker_id: request.workerId,
          lease_until: leaseEnd(now, request.leaseMs),
          output: null,
          exit_code: null,
          started_at: now,
          ended_at: null,
        })),
      )
      .returningAll()
      .execute();
    for (const row of created) attempts.set(row.rollout_id, toAttempt(row));
  }
  const tasks = await findTasks(
    db,
    rows.map((row) => row.task_id),
  );
  return rows.map((row) => {
    const task = tasks.get(row.task_id);
    if (!task) throw new NotFoundError('task', row.task_id);
    return { rollout: toRollout(row), attempt: attempts.get(row.id)!, task };
  });
}

export async function heartbeat(
  db: Kysely<StoreSchema>,
  { attemptId, leaseMs, now }: { attemptId: string; leaseMs: number; now: number },
): Promise<boolean> {
  const result = await db
    .updateTable('attempts')
    .set({ lease_until: leaseEnd(now, leaseMs) })
    .where('id', '=', attemptId)
    .where('state', '=', 'running')
    .executeTakeFirstOrThrow();
  if (result.numUpdatedRows > 0n) return true;
  const known = await db.selectFrom('attempts').select('id').where('id', '=', attemptId).executeTakeFirst();
  if (!known) throw new NotFoundError('attempt', attemptId);
  return false;
}

function leaseEnd(now: number, leaseMs: number): number {
  return Math.round(now + leaseMs);
}
