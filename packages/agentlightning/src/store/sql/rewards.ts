import type { Kysely } from 'kysely';
import { NotFoundError, StoreError } from '../errors.ts';
import type { Reward } from '../types.ts';
import { requireAttempt } from './attempts.ts';
import { toReward } from './rows.ts';
import type { StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

export async function addReward(db: Database, reward: Omit<Reward, 'createdAt'>, now: number): Promise<void> {
  if (reward.value !== null && !Number.isFinite(reward.value)) {
    throw new StoreError({
      code: 'invalid_value',
      message: `Reward "${reward.name}" (${reward.source}) of attempt "${reward.attemptId}" is ${reward.value}; a finite number or null was expected.`,
      hint: 'Let the grader return null when there is nothing to judge; a missing reward is never 0.',
    });
  }
  await requireAttempt(db, reward.attemptId);
  if (reward.callId !== null) await requireCallOf(db, reward.attemptId, reward.callId);
  await db
    .insertInto('rewards')
    .values({
      attempt_id: reward.attemptId,
      name: reward.name,
      value: reward.value,
      source: reward.source,
      agent_name: reward.agentName,
      call_id: reward.callId,
      created_at: now,
    })
    .execute();
}

async function requireCallOf(db: Database, attemptId: string, callId: string): Promise<void> {
  const call = await db
    .selectFrom('calls')
    .select('id')
    .where('id', '=', callId)
    .where('attempt_id', '=', attemptId)
    .executeTakeFirst();
  if (!call) throw new NotFoundError('call', callId);
}

/** In order of arrival. */
export async function listRewards(db: Database, attemptId: string): Promise<Reward[]> {
  await requireAttempt(db, attemptId);
  const rows = await db.selectFrom('rewards').selectAll().where('attempt_id', '=', attemptId).orderBy('seq').execute();
  return rows.map(toReward);
}
