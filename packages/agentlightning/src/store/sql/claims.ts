import { type Kysely, sql } from 'kysely';
import { NotFoundError, StoreError } from '../errors.ts';
import type { ClaimOptions } from '../store.ts';
import { rolloutTransitions } from '../transitions.ts';
import type { Attempt, Claim, Lease, ResourceVersions } from '../types.ts';
import { requireAttempt } from './attempts.ts';
import { announce, type NewChange } from './changes.ts';
import { chunksOf } from './chunks.ts';
import { latestResources } from './resources.ts';
import { type AttemptRow, fromJson, toAttempt, toJson, toRollout } from './rows.ts';
import { findTasks } from './runs.ts';
import type { StoreSchema } from './schema.ts';
import { keepAlive } from './workers.ts';

export type ClaimRequest = Pick<ClaimOptions, 'workerId' | 'limit' | 'leaseMs' | 'runId'>;

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
    // In front of the update, because as a part of it PostgreSQL could run it twice and lock other rows the second time.
    .with('oldest', () => oldest.forNoKeyUpdate().skipLocked())
    .updateTable('rollouts')
    .set((eb) => ({ state: rolloutTransitions.queued.claim, attempts: eb('attempts', '+', 1) }))
    .where('seq', 'in', (eb) => eb.selectFrom('oldest').select('oldest.seq'))
    .returningAll()
    .execute();
  if (rows.length === 0) return [];
  rows.sort((a, b) => a.seq - b.seq); // the order of RETURNING is not defined

  const latest = Object.fromEntries((await latestResources(db)).map(({ name, version }) => [name, version]));
  const attempts = new Map<string, Attempt>();
  for (const chunk of chunksOf(rows)) {
    const created = await db
      .insertInto('attempts')
      .values(
        chunk.map((row) => ({
          id: ids(),
          rollout_id: row.id,
          run_id: row.run_id,
          number: row.attempts,
          state: 'running' as const,
          failure: null,
          worker_id: request.workerId,
          lease_until: leaseEnd(now, request.leaseMs),
          output: null,
          exit_code: null,
          resources: toJson({ ...latest, ...fromJson<ResourceVersions>(row.resources) }),
          started_at: now,
          ended_at: null,
        })),
      )
      .returningAll()
      .execute();
    for (const row of created) attempts.set(row.rollout_id, toAttempt(row));
  }
  announce(
    db,
    rows.flatMap((row): NewChange[] => [
      { kind: 'rollout', id: row.id, runId: row.run_id, state: row.state },
      { kind: 'attempt', id: attempts.get(row.id)!.id, runId: row.run_id, state: 'running' },
    ]),
    now,
  );
  await keepAlive(db, { id: request.workerId, leaseMs: request.leaseMs, now });
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
  { attemptId, workerId, leaseMs, now }: Lease & { leaseMs: number; now: number },
): Promise<boolean> {
  const result = await db
    .updateTable('attempts')
    .set({ lease_until: leaseEnd(now, leaseMs) })
    .where('id', '=', attemptId)
    .where('worker_id', '=', workerId)
    .where('state', '=', 'running')
    .executeTakeFirstOrThrow();
  if (result.numUpdatedRows > 0n) {
    await keepAlive(db, { id: workerId, leaseMs, now });
    return true;
  }
  assertHolder(await requireAttempt(db, attemptId), workerId);
  return false;
}

/** @throws {StoreError} `not_lease_holder` */
export function assertHolder(attempt: AttemptRow, workerId: string): void {
  if (attempt.worker_id === workerId) return;
  throw new StoreError({
    code: 'not_lease_holder',
    category: 'user',
    message: `Attempt "${attempt.id}" was claimed by worker "${attempt.worker_id}", not by "${workerId}".`,
    hint: 'Only the worker that claimed an attempt may prolong or end it; use the id that claimed it.',
  });
}

function leaseEnd(now: number, leaseMs: number): number {
  return Math.round(now + leaseMs);
}
