import { type Kysely, sql } from 'kysely';
import { NotFoundError, StoreError } from '../errors.ts';
import type { Page, PageRequest, RolloutFilter } from '../queries.ts';
import type { RolloutQuery } from '../store.ts';
import type { Rollout, RolloutRequest } from '../types.ts';
import { announce } from './changes.ts';
import { chunksOf } from './chunks.ts';
import { boundsWithin, fewRows, placesOfRange } from './few-rows.ts';
import { type PageBounds, pageBounds, toPage } from './pages.ts';
import { requireResources } from './resources.ts';
import { type RolloutRow, toJson, toRollout } from './rows.ts';
import { findTasks, requireRun } from './runs.ts';
import type { StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

/** Known ids are left as they are. @returns one rollout a request, in the order of the requests */
export async function enqueueRollouts(db: Database, requests: RolloutRequest[], now: number): Promise<Rollout[]> {
  for (const request of requests) assertCountable(request);
  for (const runId of new Set(requests.map((request) => request.runId))) await requireRun(db, runId);
  const tasks = await findTasks(
    db,
    requests.map((request) => request.taskId),
  );
  const unknown = requests.find((request) => !tasks.has(request.taskId));
  if (unknown) throw new NotFoundError('task', unknown.taskId);
  for (const { resources } of requests) if (resources) await requireResources(db, resources);

  for (const chunk of chunksOf(requests)) {
    const added = await db
      .insertInto('rollouts')
      .values(chunk.map((request) => newRow(request, now)))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning(['id', 'run_id'])
      .execute();
    const changes = added.map(({ id, run_id }) => ({ kind: 'rollout' as const, id, runId: run_id, state: 'queued' }));
    announce(db, changes, now);
  }
  const rows = await rolloutRows(
    db,
    requests.map((request) => request.id),
  );
  return rows.map(toRollout);
}

function newRow(request: RolloutRequest, now: number) {
  return {
    id: request.id,
    run_id: request.runId,
    task_id: request.taskId,
    group_id: request.groupId,
    mode: request.mode,
    step: request.step,
    seed: request.seed,
    max_attempts: request.maxAttempts,
    state: 'queued' as const,
    failure: null,
    failure_class: null,
    failure_code: null,
    resources: toJson(request.resources ?? {}),
    created_at: now,
    ended_at: null,
  };
}

function assertCountable(request: RolloutRequest): void {
  const bad =
    (!Number.isSafeInteger(request.step) && 'step') ||
    (!Number.isSafeInteger(request.seed) && 'seed') ||
    (!(Number.isSafeInteger(request.maxAttempts) && request.maxAttempts >= 1) && 'maxAttempts');
  if (!bad) return;
  throw new StoreError({
    code: 'invalid_value',
    message: `Rollout "${request.id}" has ${bad} ${request[bad]}; a whole number${bad === 'maxAttempts' ? ' of at least 1' : ''} was expected.`,
  });
}

/** One row an id, in the order of the ids. @throws {NotFoundError} naming the first unknown id */
export async function rolloutRows(db: Database, ids: string[]): Promise<RolloutRow[]> {
  return await findRows(ids, (chunk) => db.selectFrom('rollouts').selectAll().where('id', 'in', chunk).execute());
}

/**
 * As {@link rolloutRows}, for whoever is going to change their state: until the end of the transaction nobody else does.
 * The state of an attempt changes under the lock of its rollout, too.
 */
export async function lockRollouts(db: Database, ids: string[]): Promise<RolloutRow[]> {
  return await findRows(ids, (chunk) =>
    db.selectFrom('rollouts').selectAll().where('id', 'in', chunk).orderBy('seq').forNoKeyUpdate().execute(),
  );
}

async function findRows(ids: string[], load: (chunk: string[]) => Promise<RolloutRow[]>): Promise<RolloutRow[]> {
  const found = new Map<string, RolloutRow>();
  for (const chunk of chunksOf([...new Set(ids)])) {
    const rows = await load(chunk);
    for (const row of rows) found.set(row.id, row);
  }
  return ids.map((id) => {
    const row = found.get(id);
    if (!row) throw new NotFoundError('rollout', id);
    return row;
  });
}

export async function findRollout(db: Database, id: string): Promise<Rollout | null> {
  const row = await db.selectFrom('rollouts').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? toRollout(row) : null;
}

export async function queryRollouts(db: Database, query: RolloutFilter & PageRequest): Promise<Page<Rollout>> {
  const bounds = pageBounds(query);
  const { states, ...rest } = query;
  // State by state: the index of a state has its rollouts in order, that of several has not.
  const pages = states === undefined ? [await rolloutPage(db, rest, bounds)] : [];
  for (const state of new Set(states)) pages.push(await rolloutPage(db, { ...rest, state }, bounds));
  const sign = bounds.direction === 'asc' ? 1 : -1;
  const rows = pages.flat().sort((a, b) => sign * (a.seq - b.seq));
  return toPage(rows.slice(0, bounds.rows), bounds, toRollout);
}

async function rolloutPage(
  db: Database,
  query: Omit<RolloutFilter, 'states'> & { state?: Rollout['state'] },
  page: PageBounds,
): Promise<RolloutRow[]> {
  const { createdAt } = query;
  const created = await placesOfRange(db, { table: 'rollouts', column: 'created_at', range: createdAt });
  const bounds = boundsWithin(page, created);
  const callers = callerFilters(query);
  const few = callers.length > 0 ? await rolloutsOfFewCalls(db, callers) : null;
  const column = (name: 'run_id' | 'task_id' | 'group_id' | 'mode' | 'state') =>
    few ? unindexed(name) : sql.ref<string>(name);
  let select = db
    .selectFrom('rollouts')
    .selectAll()
    .where('seq', bounds.comparison, bounds.beyond)
    .orderBy('seq', bounds.direction)
    .limit(bounds.rows);
  if (query.runId !== undefined) select = select.where(column('run_id'), '=', query.runId);
  if (query.taskId !== undefined) select = select.where(column('task_id'), '=', query.taskId);
  if (query.groupId !== undefined) select = select.where(column('group_id'), '=', query.groupId);
  if (query.step !== undefined) select = select.where('step', '=', query.step);
  if (query.mode !== undefined) select = select.where(column('mode'), '=', query.mode);
  if (query.state !== undefined) select = select.where(column('state'), '=', query.state);
  if (query.failureClass !== undefined) select = select.where('failure_class', '=', query.failureClass);
  if (query.failureCode !== undefined) select = select.where('failure_code', '=', query.failureCode);
  if (created && 'all' in created) select = select.where('seq', 'in', created.all);
  if (createdAt?.from !== undefined) select = select.where('created_at', '>=', createdAt.from);
  if (createdAt?.to !== undefined) select = select.where('created_at', '<', createdAt.to);
  if (!query.includeSuperseded) select = select.where('superseded', '=', 0);
  if (few) select = select.where('id', 'in', few);
  else if (callers.length > 0) select = select.where(({ exists }) => exists(callsOfRollout(db, callers)));
  return await select.execute();
}

type Caller = { column: 'agent_name' | 'model' | 'policy'; value: string };

function callerFilters({ agentName, model, policy }: Pick<RolloutFilter, 'agentName' | 'model' | 'policy'>): Caller[] {
  const filters = [
    { column: 'agent_name', value: agentName },
    { column: 'model', value: model },
    { column: 'policy', value: policy },
  ] as const;
  return filters.flatMap(({ column, value }) => (value === undefined ? [] : [{ column, value }]));
}

/** A rare caller would be looked for in all rollouts; its calls, found by their index, name them. Null: it is not rare. */
async function rolloutsOfFewCalls(db: Database, callers: Caller[]): Promise<string[] | null> {
  for (const { column, value } of callers) {
    const calls = db
      .selectFrom('calls')
      .select('attempt_id')
      .where(column, '=', value)
      .orderBy('seq')
      .limit(fewRows + 1);
    const found = await calls.execute();
    if (found.length > fewRows) continue;
    const rollouts = new Set<string>();
    for (const chunk of chunksOf([...new Set(found.map(({ attempt_id }) => attempt_id))])) {
      let select = db
        .selectFrom('attempts')
        .innerJoin('calls', 'calls.attempt_id', 'attempts.id')
        .select('rollout_id')
        .where('attempts.id', 'in', chunk);
      for (const caller of callers) select = select.where(caller.column, '=', caller.value);
      for (const { rollout_id } of await select.execute()) rollouts.add(rollout_id);
    }
    return [...rollouts];
  }
  return null;
}

/** Of the calls that a rollout has, and not of those that a caller has for each rollout again. */
function callsOfRollout(db: Database, callers: Caller[]) {
  let calls = db
    .selectFrom('attempts')
    .innerJoin('calls', 'calls.attempt_id', 'attempts.id')
    .select('calls.id')
    .whereRef('attempts.rollout_id', '=', sql.ref('rollouts.id'));
  for (const { column, value } of callers) calls = calls.where(unindexed(column), '=', value);
  return calls;
}

/** In an expression no index of the column is used. SQLite has no statistics, and would choose one that leaves half of the table. */
function unindexed(column: string) {
  return sql<string>`coalesce(${sql.ref(column)}, '')`;
}

/** Oldest first. */
export async function listRollouts(db: Database, query: RolloutQuery): Promise<Rollout[]> {
  let select = db.selectFrom('rollouts').selectAll().orderBy('seq');
  if (query.runId !== undefined) select = select.where('run_id', '=', query.runId);
  if (query.step !== undefined) select = select.where('step', '=', query.step);
  if (query.mode !== undefined) select = select.where('mode', '=', query.mode);
  if (query.states !== undefined) select = select.where('state', 'in', query.states);
  if (!query.includeSuperseded) select = select.where('superseded', '=', 0);
  return (await select.execute()).map(toRollout);
}
