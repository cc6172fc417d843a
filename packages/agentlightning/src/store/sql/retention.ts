import type { Kysely } from 'kysely';
import type { PruneReport, PruneRules } from '../retention.ts';
import { announce } from './changes.ts';
import type { StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;
type Removed = Partial<Omit<PruneReport, 'runs'>>;

/** Whole attempts at a time, so that prefixes that calls share are never cut, and no transaction holds up writers for long. */
const attemptsPerStep = 50;

/** Removes a part of what is to go of one run. @returns null when nothing is left to remove */
export async function pruneStep(
  db: Database,
  { runId, remove, now }: { runId: string; remove: PruneRules['remove']; now: number },
): Promise<Removed | null> {
  const run = await db.selectFrom('runs').select('state').where('id', '=', runId).executeTakeFirst();
  if (!run || run.state === 'running') return null; // resumed meanwhile
  const removed =
    (await pruneCalls(db, runId)) ??
    (await pruneSpans(db, runId)) ??
    (remove === 'runs' ? ((await pruneRollouts(db, runId)) ?? (await pruneRun(db, runId))) : null);
  if (removed) announce(db, [{ kind: 'run', id: runId, runId, state: run.state }], now);
  return removed;
}

async function pruneCalls(db: Database, runId: string): Promise<Removed | null> {
  const attempts = await attemptsWith(db, 'calls', runId);
  if (attempts.length === 0) return null;
  const ids = db.selectFrom('calls').select('id').where('attempt_id', 'in', attempts);
  const unlinked = await db
    .updateTable('rewards')
    .set({ call_id: null })
    .where('call_id', 'in', ids)
    .executeTakeFirst();
  const annotations = await db
    .deleteFrom('annotations')
    .where('target_kind', '=', 'call')
    .where('target_id', 'in', ids)
    .executeTakeFirst();
  await db.deleteFrom('call_choices').where('call_id', 'in', ids).execute();
  const calls = await db.deleteFrom('calls').where('attempt_id', 'in', attempts).executeTakeFirst();
  return {
    calls: Number(calls.numDeletedRows),
    annotations: Number(annotations.numDeletedRows),
    rewardsWithoutCall: Number(unlinked.numUpdatedRows),
  };
}

async function pruneSpans(db: Database, runId: string): Promise<Removed | null> {
  const attempts = await attemptsWith(db, 'spans', runId);
  if (attempts.length === 0) return null;
  const spans = await db.deleteFrom('spans').where('attempt_id', 'in', attempts).executeTakeFirst();
  return { spans: Number(spans.numDeletedRows) };
}

async function pruneRollouts(db: Database, runId: string): Promise<Removed | null> {
  const rollouts = await idsOf(
    db.selectFrom('rollouts').select('id').where('run_id', '=', runId).orderBy('seq').limit(attemptsPerStep),
  );
  if (rollouts.length === 0) return null;
  const attempts = await idsOf(db.selectFrom('attempts').select('id').where('rollout_id', 'in', rollouts));
  const rewards = await db.deleteFrom('rewards').where('attempt_id', 'in', attempts).executeTakeFirst();
  let annotations = 0;
  for (const [kind, ids] of [
    ['attempt', attempts],
    ['rollout', rollouts],
  ] as const) {
    const deleted = await db
      .deleteFrom('annotations')
      .where('target_kind', '=', kind)
      .where('target_id', 'in', ids)
      .executeTakeFirst();
    annotations += Number(deleted.numDeletedRows);
  }
  await db.deleteFrom('attempts').where('id', 'in', attempts).execute();
  await db.deleteFrom('rollouts').where('id', 'in', rollouts).execute();
  return {
    rollouts: rollouts.length,
    attempts: attempts.length,
    rewards: Number(rewards.numDeletedRows),
    annotations,
  };
}

async function pruneRun(db: Database, runId: string): Promise<Removed> {
  await db.deleteFrom('policy_versions').where('run_id', '=', runId).execute();
  await db.deleteFrom('checkpoints').where('run_id', '=', runId).execute();
  await db.deleteFrom('runs').where('id', '=', runId).execute();
  return {};
}

async function attemptsWith(db: Database, table: 'calls' | 'spans', runId: string): Promise<string[]> {
  const rows = await db
    .selectFrom(table)
    .select('attempt_id')
    .distinct()
    .where('run_id', '=', runId)
    .limit(attemptsPerStep)
    .execute();
  return rows.map(({ attempt_id }) => attempt_id);
}

async function idsOf(query: { execute(): Promise<{ id: string }[]> }): Promise<string[]> {
  return (await query.execute()).map(({ id }) => id);
}
