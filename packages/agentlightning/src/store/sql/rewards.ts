import type { Kysely } from 'kysely';
import { NotFoundError } from '../errors.ts';
import type { Page, PageRequest, RewardFilter } from '../queries.ts';
import { assertRewardValue } from '../reward-value.ts';
import type { Reward } from '../types.ts';
import { ownerOf, requireAttempt } from './attempts.ts';
import { announce } from './changes.ts';
import { attemptsOfOwner } from './owners.ts';
import { equals, pageBounds, toPage } from './pages.ts';
import { toReward } from './rows.ts';
import type { StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

export async function addReward(db: Database, reward: Omit<Reward, 'createdAt' | 'late'>, now: number): Promise<void> {
  assertRewardValue(reward);
  const { runId, late } = await ownerOf(db, reward.attemptId);
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
      run_id: runId,
      late,
    })
    .execute();
  announce(db, [{ kind: 'reward', id: reward.attemptId, runId }], now);
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

export async function queryRewards(db: Database, query: RewardFilter & PageRequest): Promise<Page<Reward>> {
  const bounds = pageBounds(query);
  let select = db
    .selectFrom('rewards')
    .selectAll()
    .where('seq', bounds.comparison, bounds.beyond)
    .orderBy('seq', bounds.direction)
    .limit(bounds.rows);
  const owners = attemptsOfOwner(db, query);
  if (owners) select = select.where('attempt_id', 'in', owners);
  else if (query.runId !== undefined) select = select.where('run_id', '=', query.runId);
  if (query.attemptId !== undefined) select = select.where('attempt_id', '=', query.attemptId);
  if (query.name !== undefined) select = select.where('name', '=', query.name);
  if (query.source !== undefined) select = select.where('source', '=', query.source);
  if (query.agentName !== undefined) select = select.where('agent_name', equals(query.agentName), query.agentName);
  if (query.callId !== undefined) select = select.where('call_id', equals(query.callId), query.callId);
  if (query.late !== undefined) select = select.where('late', '=', query.late ? 1 : 0);
  if (query.createdAt?.from !== undefined) select = select.where('created_at', '>=', query.createdAt.from);
  if (query.createdAt?.to !== undefined) select = select.where('created_at', '<', query.createdAt.to);
  return toPage(await select.execute(), bounds, toReward);
}
