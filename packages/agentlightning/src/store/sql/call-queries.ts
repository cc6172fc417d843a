import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { CallFilter, Page, PageRequest } from '../queries.ts';
import type { Call, CallChoice, CallSummary } from '../types.ts';
import { toCall, toChoice } from './call-rows.ts';
import { boundsWithin, placesOfRange } from './few-rows.ts';
import { attemptsOfOwner } from './owners.ts';
import { equals, pageBounds, toPage } from './pages.ts';
import { nullableFromJson } from './rows.ts';
import type { CallTable, StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

/** The call with its prompt and request rebuilt from the chain of calls that it shares them with. */
export async function findCall(db: Database, id: string): Promise<Call | null> {
  const chain: Selectable<CallTable>[] = [];
  for (let next: string | null = id; next !== null; next = chain.at(-1)!.parent_id) {
    const row = await db.selectFrom('calls').selectAll().where('id', '=', next).executeTakeFirst();
    if (!row) break;
    chain.push(row);
  }
  const [wanted] = chain;
  if (!wanted) return null;
  const { rollout_id: rolloutId } = await db
    .selectFrom('attempts')
    .select('rollout_id')
    .where('id', '=', wanted.attempt_id)
    .executeTakeFirstOrThrow();
  let parent: Call | null = null;
  for (const row of chain.reverse()) {
    parent = toCall(row, { parent, choices: await choicesOfCall(db, row.id), rolloutId });
  }
  return parent;
}

async function choicesOfCall(db: Database, callId: string): Promise<CallChoice[]> {
  const rows = await db
    .selectFrom('call_choices')
    .selectAll()
    .where('call_id', '=', callId)
    .orderBy('position')
    .execute();
  return rows.map(toChoice);
}

/** Lengths of the binary columns tell the numbers of tokens: 1 + 4·n bytes. */
const ownPromptTokens = sql<number | null>`(length(calls.prompt_ids) - 1) / 4`;
const sampledTokens = sql<number>`(select coalesce(sum((length(token_ids) - 1) / 4), 0) from call_choices where call_id = calls.id)`;

export async function queryCalls(db: Database, query: CallFilter & PageRequest): Promise<Page<CallSummary>> {
  const places = await placesOfRange(db, { table: 'calls', column: 'started_at', range: query.startedAt });
  const bounds = boundsWithin(pageBounds(query), places);
  const select = db
    .selectFrom('calls')
    .innerJoin('attempts', 'attempts.id', 'calls.attempt_id')
    .select(['calls.seq', 'calls.id', 'calls.attempt_id', 'attempts.rollout_id', 'calls.run_id', 'calls.sequence'])
    .select(['agent_name', 'model', 'policy', 'dialect', 'response_id', 'shared_tokens', 'untrainable', 'error'])
    .select(['calls.started_at', 'latency_ms', 'time_to_first_token_ms', 'late'])
    .select([ownPromptTokens.as('own_tokens'), sampledTokens.as('sampled_tokens')])
    .where('calls.seq', bounds.comparison, bounds.beyond)
    .orderBy('calls.seq', bounds.direction)
    .limit(bounds.rows);
  const found = places && 'all' in places ? select.where('calls.seq', 'in', places.all) : select;
  const rows = await filtered(db, found, query).execute();
  return toPage(rows, bounds, (row) => ({
    id: row.id,
    attemptId: row.attempt_id,
    rolloutId: row.rollout_id,
    runId: row.run_id,
    sequence: row.sequence,
    agentName: row.agent_name,
    model: row.model,
    policy: row.policy,
    dialect: row.dialect,
    responseId: row.response_id,
    promptTokens: row.own_tokens === null ? null : row.shared_tokens + row.own_tokens,
    sampledTokens: Number(row.sampled_tokens),
    untrainable: row.untrainable,
    error: nullableFromJson<string>(row.error),
    startedAt: row.started_at,
    latencyMs: row.latency_ms,
    timeToFirstTokenMs: row.time_to_first_token_ms,
    late: row.late === 1,
  }));
}

function filtered<Row>(
  db: Database,
  all: SelectQueryBuilder<StoreSchema, 'calls' | 'attempts', Row>,
  query: CallFilter,
): SelectQueryBuilder<StoreSchema, 'calls' | 'attempts', Row> {
  let select = all;
  const owners = attemptsOfOwner(db, query);
  if (owners) select = select.where('calls.attempt_id', 'in', owners);
  else if (query.runId !== undefined) select = select.where('calls.run_id', '=', query.runId);
  if (query.attemptId !== undefined) select = select.where('calls.attempt_id', '=', query.attemptId);
  if (query.model !== undefined) select = select.where('model', '=', query.model);
  if (query.dialect !== undefined) select = select.where('dialect', '=', query.dialect);
  if (query.agentName !== undefined) select = select.where('agent_name', equals(query.agentName), query.agentName);
  if (query.policy !== undefined) select = select.where('policy', equals(query.policy), query.policy);
  if (query.responseId !== undefined) select = select.where('response_id', '=', query.responseId);
  if (query.late !== undefined) select = select.where('late', '=', query.late ? 1 : 0);
  if (query.startedAt?.from !== undefined) select = select.where('calls.started_at', '>=', query.startedAt.from);
  if (query.startedAt?.to !== undefined) select = select.where('calls.started_at', '<', query.startedAt.to);
  if (query.untrainable === true) select = select.where('untrainable', 'is not', null);
  else if (query.untrainable === false) select = select.where('untrainable', 'is', null);
  else if (query.untrainable !== undefined) select = select.where('untrainable', '=', query.untrainable);
  return select;
}
