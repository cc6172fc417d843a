import type { Kysely } from 'kysely';
import { StoreError } from '../errors.ts';
import { rolloutMachine, statesAllowing, transition } from '../transitions.ts';
import type { Failure, Rollout } from '../types.ts';
import { announce } from './changes.ts';
import { cancelRollout } from './endings.ts';
import { lockRollouts } from './rollouts.ts';
import { toRollout } from './rows.ts';
import { requireRun } from './runs.ts';
import type { StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

/** Rollouts that have ended meanwhile stay as they are: who cancels cannot know. @returns the cancelled ones */
export async function cancelRollouts(
  db: Database,
  { ids, reason, now }: { ids: string[]; reason: string; now: number },
): Promise<Rollout[]> {
  const failure: Failure = { class: 'infrastructure', code: 'cancelled', message: reason };
  const cancellable = statesAllowing(rolloutMachine, 'cancel');
  const cancelled: Rollout[] = [];
  for (const row of await lockRollouts(db, [...new Set(ids)])) {
    if (cancellable.includes(row.state)) cancelled.push(await cancelRollout(db, row, { failure, now }));
  }
  return cancelled;
}

/** One more attempt for each, whatever it ended with. @throws {StoreError} `rollout_superseded`; {@link IllegalTransitionError} */
export async function requeueRollouts(db: Database, ids: string[], now: number): Promise<Rollout[]> {
  const queued = new Map<string, Rollout>();
  for (const row of await lockRollouts(db, [...new Set(ids)])) {
    if (row.superseded === 1) throw superseded(row.id);
    const after = await db
      .updateTable('rollouts')
      .set({
        state: transition(rolloutMachine, row, 'requeue'),
        max_attempts: Math.max(row.max_attempts, row.attempts + 1),
        failure: null,
        failure_class: null,
        failure_code: null,
        ended_at: null,
      })
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    announce(db, [{ kind: 'rollout', id: row.id, runId: row.run_id, state: after.state }], now);
    queued.set(row.id, toRollout(after));
  }
  return ids.map((id) => queued.get(id)!);
}

function superseded(id: string): StoreError {
  return new StoreError({
    code: 'rollout_superseded',
    category: 'user',
    message: `Rollout "${id}" was replaced when its run was resumed, and counts no more.`,
    hint: 'Enqueue a rollout with a new id instead.',
  });
}

/** @returns how many rollouts were marked by this call, and those that it cancelled */
export async function supersedeAfter(
  db: Database,
  { runId, step, now }: { runId: string; step: number; now: number },
): Promise<{ marked: number; cancelled: Rollout[] }> {
  await requireRun(db, runId);
  const result = await db
    .updateTable('rollouts')
    .set({ superseded: 1 })
    .where('run_id', '=', runId)
    .where('step', '>', step)
    .where('superseded', '=', 0)
    .executeTakeFirstOrThrow();
  const open = await db
    .selectFrom('rollouts')
    .selectAll()
    .where('run_id', '=', runId)
    .where('step', '>', step)
    .where('state', 'in', statesAllowing(rolloutMachine, 'cancel'))
    .orderBy('seq')
    .forNoKeyUpdate()
    .execute();
  const failure: Failure = {
    class: 'infrastructure',
    code: 'superseded',
    message: `The run went on from its checkpoint at step ${step}.`,
  };
  const cancelled: Rollout[] = [];
  for (const row of open) cancelled.push(await cancelRollout(db, row, { failure, now }));
  return { marked: Number(result.numUpdatedRows), cancelled };
}
