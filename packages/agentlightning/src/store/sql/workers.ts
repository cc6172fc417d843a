import { type Kysely, type Selectable, sql } from 'kysely';
import { NotFoundError } from '../errors.ts';
import type { Page, PageRequest, WorkerFilter } from '../queries.ts';
import { statesAllowing, transition, type WorkerEvent, workerMachine } from '../transitions.ts';
import type { JsonObject, Worker } from '../types.ts';
import { announce } from './changes.ts';
import { pageBounds, toPage } from './pages.ts';
import { fromJson, toJson } from './rows.ts';
import type { StoreSchema, WorkerTable } from './schema.ts';

type Database = Kysely<StoreSchema>;
type WorkerRow = Selectable<WorkerTable>;

export interface SignOfLife {
  id: string;
  leaseMs: number;
  now: number;
}

export async function registerWorker(
  db: Database,
  { id, info, leaseMs, now }: SignOfLife & { info: JsonObject },
): Promise<Worker> {
  const known = await findRow(db, id);
  if (known)
    await db
      .updateTable('workers')
      .set({ info: toJson(info) })
      .where('id', '=', id)
      .execute();
  return await keepAlive(db, { id, leaseMs, now, info });
}

/** @throws {NotFoundError} `worker_not_found`; {@link IllegalTransitionError} when it had left */
export async function heartbeatWorker(db: Database, { id, leaseMs, now }: SignOfLife): Promise<Worker> {
  const row = (await lockRow(db, id)) ?? unknown(id);
  if (row.state === 'gone') transition(workerMachine, row, 'return');
  return await keepAlive(db, { id, leaseMs, now });
}

/** Notes a sign of life and what the worker has to do; a worker that is not known is from now on. */
export async function keepAlive(
  db: Database,
  { id, leaseMs, now, info = {} }: SignOfLife & { info?: JsonObject },
): Promise<Worker> {
  const aliveUntil = Math.round(now + leaseMs);
  const row = await lockRow(db, id);
  if (!row) {
    await db
      .insertInto('workers')
      .values({ id, state: 'idle', info: toJson(info), alive_until: aliveUntil, heartbeat_at: now, registered_at: now })
      .execute();
    announce(db, [{ kind: 'worker', id, runId: null, state: 'idle' }], now);
  } else {
    if (row.state === 'lost') await step(db, row, 'return', now);
    if (row.state === 'gone') await step(db, row, 'register', now);
    await db
      .updateTable('workers')
      .set({ alive_until: Math.max(aliveUntil, row.state === 'gone' ? 0 : row.alive_until), heartbeat_at: now })
      .where('id', '=', id)
      .execute();
  }
  return await settleWorker(db, id, now);
}

/** Busy while it holds a lease, else idle. */
export async function settleWorker(db: Database, id: string, now: number): Promise<Worker> {
  const row = (await lockRow(db, id)) ?? unknown(id);
  const worker = await toWorker(db, row);
  const event =
    row.state === 'idle' && worker.running > 0 ? 'take' : row.state === 'busy' && worker.running === 0 ? 'rest' : null;
  return event === null ? worker : { ...worker, state: await step(db, row, event, now) };
}

/** Those who have shown no sign of life for too long. */
export async function missWorkers(db: Database, now: number): Promise<void> {
  const silent = await db
    .selectFrom('workers')
    .selectAll()
    .where('state', 'in', statesAllowing(workerMachine, 'miss'))
    .where('alive_until', '<=', now)
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
  for (const row of silent) await step(db, row, 'miss', now);
}

/** @throws {NotFoundError}; {@link IllegalTransitionError} when it has left already */
export async function markGone(db: Database, id: string, now: number): Promise<Worker> {
  const row = (await lockRow(db, id)) ?? unknown(id);
  const state = await step(db, row, 'leave', now);
  return { ...(await toWorker(db, row)), state };
}

export async function findWorker(db: Database, id: string): Promise<Worker | null> {
  const row = await findRow(db, id);
  return row ? await toWorker(db, row) : null;
}

export async function queryWorkers(db: Database, query: WorkerFilter & PageRequest): Promise<Page<Worker>> {
  const bounds = pageBounds(query);
  let select = db
    .selectFrom('workers')
    .selectAll()
    .where('seq', bounds.comparison, bounds.beyond)
    .orderBy('seq', bounds.direction)
    .limit(bounds.rows);
  if (query.states) select = select.where('state', 'in', query.states);
  const page = toPage(await select.execute(), bounds, (row) => toWorker(db, row));
  return { ...page, items: await Promise.all(page.items) };
}

async function step(db: Database, row: WorkerRow, event: WorkerEvent, now: number): Promise<Worker['state']> {
  const state = transition(workerMachine, row, event);
  await db.updateTable('workers').set({ state }).where('id', '=', row.id).execute();
  announce(db, [{ kind: 'worker', id: row.id, runId: null, state }], now);
  return state;
}

async function findRow(db: Database, id: string): Promise<WorkerRow | undefined> {
  return await db.selectFrom('workers').selectAll().where('id', '=', id).executeTakeFirst();
}

/** For whoever is going to change its state, which says how many attempts it holds: no two may count at the same time. */
async function lockRow(db: Database, id: string): Promise<WorkerRow | undefined> {
  return await db.selectFrom('workers').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

function unknown(id: string): never {
  throw new NotFoundError('worker', id);
}

async function toWorker(db: Database, row: WorkerRow): Promise<Worker> {
  const { running } = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.countAll<number>().as('running'))
    .where('worker_id', '=', row.id)
    .where('state', '=', sql.lit('running'))
    .executeTakeFirstOrThrow();
  return {
    id: row.id,
    state: row.state,
    info: fromJson(row.info),
    running: Number(running),
    aliveUntil: row.alive_until,
    heartbeatAt: row.heartbeat_at,
    registeredAt: row.registered_at,
  };
}
