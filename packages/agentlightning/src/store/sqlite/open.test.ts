import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Migration } from '../sql/index.ts';
import { callOf, crash, enqueue, seed } from '../testing/index.ts';
import { migrations } from './migrations/index.ts';
import { openDatabase, openSqliteReader, openSqliteStore } from './open.ts';
import { query } from './statements.ts';
import { startChild, temporaryFolder } from './testing/index.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder.path, 'new', 'store.db');
});
afterEach(() => folder.remove());

async function makeStore(): Promise<void> {
  const store = await openSqliteStore({ path });
  await seed(store);
  await store.close();
}

describe('opening a store file', () => {
  it('is refused while another process has it open, and possible as soon as that one is killed', async () => {
    const child = startChild(path, 1);
    await child.written(1);
    const refused = openSqliteStore({ path });
    await expect(refused).rejects.toMatchObject({ code: 'store_in_use', category: 'user' });
    await expect(refused).rejects.toThrow(`${path} is in use by process ${child.process.pid};`);
    await child.kill();
    const store = await openSqliteStore({ path });
    expect(await store.listRuns()).toHaveLength(1);
    await store.close();
  });

  it('is refused while this process has it open, which that one does not notice', async () => {
    const store = await openSqliteStore({ path });
    await expect(openSqliteStore({ path })).rejects.toThrow('in use by this process itself');
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: 'store_in_use' });
    await seed(store);
    await store.close();
    await (await openSqliteStore({ path })).close();
  });

  it('sets the file up to survive a killed process and to check references', async () => {
    const { database, owner } = openDatabase({ path, now: 0 });
    expect(query(database, 'pragma journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(query(database, 'pragma synchronous')).toEqual([{ synchronous: 1 }]);
    expect(query(database, 'pragma foreign_keys')).toEqual([{ foreign_keys: 1 }]);
    expect(query(database, 'pragma busy_timeout')).toEqual([{ timeout: 5000 }]);
    database.close();
    owner.release();
  });

  it('can be for reading beside the owner, whose commits are seen and whose lock stays', async () => {
    const child = startChild(path, 1);
    await child.written(1);
    const reader = openSqliteReader(path)!;
    const lastSeen = await reader.lastChange();
    await child.written(child.lines.length + 5);
    expect(await reader.lastChange()).toBeGreaterThan(lastSeen);
    await expect(reader.createRun({ id: 'mine', config: {} })).rejects.toMatchObject({ code: 'store_unavailable' });
    await reader.close();
    await child.written(child.lines.length + 1);
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: 'store_in_use' });
    await child.kill();
  });

  it('lets other programs read meanwhile', async () => {
    const store = await openSqliteStore({ path });
    await seed(store);
    const reader = new DatabaseSync(path, { readOnly: true });
    expect(query(reader, 'select id from runs')).toEqual([{ id: 'run-1' }]);
    reader.close();
    await store.close();
  });

  it.each(['x', 'just some notes\n', 'x'.repeat(9000)])('leaves a file of another kind as it is', async (content) => {
    const other = join(folder.path, 'notes.txt');
    writeFileSync(other, content);
    await expect(openSqliteStore({ path: other })).rejects.toMatchObject({ code: 'not_a_store' });
    expect(readFileSync(other, 'utf8')).toBe(content);
    expect(readdirSync(folder.path)).toEqual(['notes.txt']);
  });

  it('leaves a database of another program as it is', async () => {
    const other = join(folder.path, 'other.db');
    const database = new DatabaseSync(other);
    database.exec('create table things (id)');
    database.close();
    const before = readFileSync(other);
    await expect(openSqliteStore({ path: other })).rejects.toThrow(`${other} is an SQLite database of another program`);
    expect(readFileSync(other).equals(before)).toBe(true);
  });

  it('names a folder in place of the file', async () => {
    mkdirSync(path, { recursive: true });
    await expect(openSqliteStore({ path })).rejects.toThrow(`${path} is not a file`);
    const below = join(folder.path, 'file', 'store.db');
    writeFileSync(join(folder.path, 'file'), '');
    await expect(openSqliteStore({ path: below })).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('refuses a file that a newer version wrote, naming what it does not know', async () => {
    await makeStore();
    const database = new DatabaseSync(path);
    database.exec("insert into schema_migrations values ('999-from-the-future', 0)");
    database.close();
    const refused = openSqliteStore({ path });
    await expect(refused).rejects.toMatchObject({ code: 'schema_too_new', hint: expect.stringContaining('Update') });
    await expect(refused).rejects.toThrow('999-from-the-future');
  });

  it.each(migrations.map((_, at) => at).slice(1))(
    'brings a file of %i migrations forward and keeps what is in it',
    async (count) => {
      makeReleased(migrations.slice(0, count));
      const store = await openSqliteStore({ path });
      expect(await store.getRollout('old')).toMatchObject({ state: 'failed', failure: crash, resources: {} });
      expect(await store.queryRollouts({ failureClass: 'infrastructure' })).toMatchObject({ items: [{ id: 'old' }] });
      expect(await store.queryCalls({ runId: 'run-1' })).toMatchObject({
        items: [{ id: 'call', responseId: 'chat-1' }],
      });
      expect(await store.queryCalls({ responseId: 'chat-1' })).toMatchObject({
        items: [{ late: false, sampledTokens: 0 }],
      });
      expect(await store.queryRewards({ runId: 'run-1' })).toMatchObject({ items: [{ value: 0.5 }] });
      await enqueue(store, ['rollout-1']);
      const [claim] = await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 1000 });
      expect(await store.listSpans(claim!.attempt.id)).toEqual([]);
      await store.close();
    },
  );

  it('says that a damaged file is damaged', async () => {
    await makeStore();
    const bytes = readFileSync(path);
    const pageBytes = 4096;
    bytes.fill(0xee, pageBytes, statSync(path).size); // all but the first page
    writeFileSync(path, bytes);
    const opened = openSqliteStore({ path }).then((store) => store.listRuns());
    await expect(opened).rejects.toMatchObject({ code: 'store_corrupted', message: expect.stringContaining(path) });
  });

  it('refuses ids that SQLite would not give back as they are', async () => {
    const store = await openSqliteStore({ path });
    for (const id of ['a\0b', 'a\ud800']) {
      const refused = store.putTasks([{ id, input: {}, private: {} }]);
      await expect(refused).rejects.toMatchObject({ code: 'invalid_value' });
    }
    await store.close();
  });

  it('has check constraints that know the states of the table, and no others', async () => {
    await makeStore();
    const database = new DatabaseSync(path);
    const insert = (state: string) => () =>
      database.exec(`insert into rollouts (id, run_id, task_id, group_id, mode, step, seed, max_attempts, state, created_at)
        values ('${state}', 'run-1', 'task-1', 'g', 'train', 0, 0, 1, '${state}', 0)`);
    for (const state of ['queued', 'running', 'succeeded', 'failed', 'cancelled']) expect(insert(state)).not.toThrow();
    expect(insert('paused')).toThrow('CHECK constraint failed');
    database.close();
  });
});

describe('bytes of a call', () => {
  it('grow with new text and not with turns', async () => {
    const store = await openSqliteStore({ path });
    await seed(store);
    await enqueue(store, ['rollout-1']);
    const [claim] = await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 1000 });
    for (let sequence = 0; sequence <= 50; sequence += 1) await store.recordCall(callOf(claim!, sequence));
    await store.close();

    const database = new DatabaseSync(path, { readOnly: true });
    const bytesAt = (sequence: number): number => {
      const tables = ['calls where', 'call_choices join calls on calls.id = call_id where'];
      const rows = tables.flatMap((from) => query<Row>(database, `select * from ${from} sequence = ${sequence}`));
      return rows.flatMap((row) => Object.values(row)).reduce<number>((sum, value) => sum + bytesOf(value), 0);
    };
    expect(bytesAt(2)).toBeGreaterThan(500);
    expect(bytesAt(50)).toBeLessThanOrEqual(1.2 * bytesAt(2));
    database.close();
  });
});

type Row = Record<string, string | number | Uint8Array | null>;

function bytesOf(value: Row[string]): number {
  if (value === null) return 0;
  if (typeof value === 'number') return 8;
  return typeof value === 'string' ? Buffer.byteLength(value) : value.length;
}

/** A file of the first version, with a row in each table that a later migration fills columns of, brought forward to a later one. */
function makeReleased(released: readonly Migration[]): void {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`
    pragma application_id = ${0x41474c53};
    create table schema_migrations (name text primary key, applied_at integer not null) strict;
  `);
  const apply = ({ name, sql }: Migration): void => {
    database.exec(sql);
    query(database, 'insert into schema_migrations values (?, 0)', name);
  };
  const [first, ...later] = released;
  apply(first!);
  database.exec(`
    insert into runs (id, config, state, created_at) values ('run-1', '{}', 'running', 1);
    insert into tasks values ('task-1', '{}', '{}');
    insert into rollouts (id, run_id, task_id, group_id, mode, step, seed, max_attempts, state, attempts, failure, created_at)
      values ('old', 'run-1', 'task-1', 'g', 'train', 0, 1, 1, 'failed', 1, '${JSON.stringify(crash)}', 1);
    insert into attempts (id, rollout_id, number, state, worker_id, lease_until, started_at)
      values ('attempt', 'old', 1, 'failed', 'w', 1, 1);
    insert into calls (id, attempt_id, sequence, model, dialect, request, response, shared_tokens, shared_items,
      sampling, overridden, started_at, latency_ms)
      values ('call', 'attempt', 0, 'm', 'chat', '{}', '{"id":"chat-1"}', 0, '{}', '{}', '{}', 1, 1);
    insert into rewards (attempt_id, name, value, source, created_at) values ('attempt', 'reward', 0.5, 'grader', 1);
  `);
  for (const migration of later) apply(migration);
  database.close();
}
