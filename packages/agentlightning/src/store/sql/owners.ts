import type { Kysely } from 'kysely';
import type { OwnerFilter } from '../queries.ts';
import type { StoreSchema } from './schema.ts';

/**
 * Ids of the attempts that a filter by rollout, task or step leaves, of the run that it names; null when it names none of them. Who
 * filters by them does not filter by the run again: its index would be gone through from end to end.
 */
export function attemptsOfOwner(db: Kysely<StoreSchema>, { rolloutId, taskId, step, runId }: OwnerFilter) {
  if (rolloutId === undefined && taskId === undefined && step === undefined) return null;
  let select = db
    .selectFrom('attempts')
    .innerJoin('rollouts', 'rollouts.id', 'attempts.rollout_id')
    .select('attempts.id');
  if (rolloutId !== undefined) select = select.where('rollouts.id', '=', rolloutId);
  if (taskId !== undefined) select = select.where('rollouts.task_id', '=', taskId);
  if (step !== undefined) select = select.where('rollouts.step', '=', step);
  if (runId !== undefined) select = select.where('rollouts.run_id', '=', runId);
  return select;
}
