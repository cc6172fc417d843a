import type { Kysely } from 'kysely';
import { NotFoundError, StoreError } from '../errors.ts';
import type { Page, PageRequest, RunFilter } from '../queries.ts';
import type { Run, Task } from '../types.ts';
import { announce } from './changes.ts';
import { chunksOf } from './chunks.ts';
import { pageBounds, toPage } from './pages.ts';
import { toJson, toRun, toTask } from './rows.ts';
import type { StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

export async function createRun(db: Database, run: Pick<Run, 'id' | 'config'>, now: number): Promise<Run> {
  const row = await db
    .insertInto('runs')
    .values({ id: run.id, config: toJson(run.config), state: 'running', created_at: now, ended_at: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row) {
    announce(db, [{ kind: 'run', id: run.id, runId: run.id, state: row.state }], now);
    return toRun(row);
  }
  throw new StoreError({
    code: 'run_exists',
    category: 'user',
    message: `The store has a run "${run.id}" already.`,
    hint: 'Give the new run another id, or resume the one that is there.',
  });
}

export async function findRun(db: Database, id: string): Promise<Run | null> {
  const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? toRun(row) : null;
}

/** @throws {NotFoundError} */
export async function requireRun(db: Database, id: string): Promise<void> {
  if ((await findRun(db, id)) === null) throw new NotFoundError('run', id);
}

export async function listRuns(db: Database): Promise<Run[]> {
  const rows = await db.selectFrom('runs').selectAll().orderBy('seq', 'desc').execute();
  return rows.map(toRun);
}

export async function queryRuns(db: Database, query: RunFilter & PageRequest): Promise<Page<Run>> {
  const bounds = pageBounds(query);
  let select = db
    .selectFrom('runs')
    .selectAll()
    .where('seq', bounds.comparison, bounds.beyond)
    .orderBy('seq', bounds.direction)
    .limit(bounds.rows);
  if (query.states !== undefined) select = select.where('state', 'in', query.states);
  return toPage(await select.execute(), bounds, toRun);
}

/** No state machine: a run that ended may be resumed, and then the last ending holds. */
export async function finishRun(
  db: Database,
  { id, state, now }: { id: string; state: 'finished' | 'failed'; now: number },
): Promise<void> {
  const result = await db
    .updateTable('runs')
    .set({ state, ended_at: now })
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (result.numUpdatedRows === 0n) throw new NotFoundError('run', id);
  announce(db, [{ kind: 'run', id, runId: id, state }], now);
}

export async function putTasks(db: Database, tasks: Task[]): Promise<void> {
  const last = new Map(tasks.map((task) => [task.id, task])); // one statement may not touch a row twice
  for (const chunk of chunksOf([...last.values()])) {
    await db
      .insertInto('tasks')
      .values(chunk.map((task) => ({ id: task.id, input: toJson(task.input), private: toJson(task.private) })))
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet((eb) => ({ input: eb.ref('excluded.input'), private: eb.ref('excluded.private') })),
      )
      .execute();
  }
}

export async function findTasks(db: Database, ids: string[]): Promise<Map<string, Task>> {
  const found = new Map<string, Task>();
  for (const chunk of chunksOf([...new Set(ids)])) {
    const rows = await db.selectFrom('tasks').selectAll().where('id', 'in', chunk).execute();
    for (const row of rows) found.set(row.id, toTask(row));
  }
  return found;
}

export async function queryTasks(db: Database, { after, ...page }: PageRequest): Promise<Page<Task>> {
  const bounds = pageBounds(page);
  let select = db.selectFrom('tasks').selectAll().orderBy('id', bounds.direction).limit(bounds.rows);
  if (after !== undefined) select = select.where('id', bounds.comparison, after);
  return toPage(await select.execute(), bounds, toTask);
}
