import type { Kysely } from 'kysely';
import { rolloutMachine, statesAllowing } from '../transitions.ts';
import type { Failure, Rollout } from '../types.ts';
import { cancelRollout } from './endings.ts';
import { rolloutRows } from './rollouts.ts';
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
  for (const row of await rolloutRows(db, [...new Set(ids)])) {
    if (cancellable.includes(row.state)) cancelled.push(await cancelRollout(db, row, { failure, now }));
  }
  return cancelled;
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
