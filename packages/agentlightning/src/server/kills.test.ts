import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../store/index.ts';
import type { Page } from '../store/queries.ts';
import { query } from '../store/sqlite/statements.ts';
import { temporaryFolder } from '../store/sqlite/testing/index.ts';
import type { Store } from '../store/store.ts';
import { seed, startProgram } from '../store/testing/index.ts';
import { Acknowledged, work } from './testing/load.ts';

/** Set AGL_STORE_KILLS=200 for a long run. */
const kills = Number(process.env.AGL_STORE_KILLS ?? 3);
const key = 'the-admin-key';

async function all<T>(read: (page: { limit: number; after?: string }) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await read(after === undefined ? { limit: 1000 } : { limit: 1000, after });
    found.push(...page.items);
    after = page.next;
  }
  return found;
}

async function assertKept(store: Store, done: Acknowledged): Promise<void> {
  const found = {
    rollouts: (await all((page) => store.queryRollouts(page))).map(({ id }) => id),
    ended: (await all((page) => store.queryAttempts({ ...page, states: ['succeeded'] }))).map(({ id }) => id),
    calls: (await all((page) => store.queryCalls(page))).map(({ responseId }) => responseId),
    spans: (await all((page) => store.querySpans(page))).map(({ spanId }) => spanId),
    rewards: (await all((page) => store.queryRewards(page))).map(({ name }) => name),
  };
  for (const kind of ['rollouts', 'ended', 'calls', 'spans', 'rewards'] as const) {
    const kept = new Set<string | null>(found[kind]);
    expect([...done[kind]].filter((id) => !kept.has(id))).toEqual([]);
    expect(found[kind].length, `${kind} are there once`).toBe(kept.size);
  }
  // A worker asks a model twice for each attempt and sends nothing again.
  const perAttempt = new Map<string, number>();
  for (const { attemptId } of await all((page) => store.queryCalls(page))) {
    perAttempt.set(attemptId, (perAttempt.get(attemptId) ?? 0) + 1);
  }
  expect(Math.max(...perAttempt.values())).toBeLessThanOrEqual(2);
}

/** Kills it after so many answers, however fast the machine is; what is under way then, is under way. */
async function killUnderLoad(given: {
  path: string;
  done: Acknowledged;
  prefix: string;
  after: number;
}): Promise<void> {
  const server = startProgram(new URL('./testing/whole-server.js', import.meta.url), [given.path, key]);
  try {
    await server.written(1);
    let left = given.after;
    let killed: Promise<void> | null = null;
    const onDone = (): void => {
      left -= 1;
      if (left === 0) killed = server.kill();
    };
    const target = { url: server.lines[0]!, key };
    const workers = ['a', 'b', 'c', 'd'].map((name) =>
      work(target, { name: `${given.prefix}-${name}`, done: given.done, onDone }),
    );
    for (const ended of await Promise.allSettled(workers)) {
      expect(ended.status).toBe('rejected');
      expect(ended.status === 'rejected' && String(ended.reason)).not.toMatch(/answered \d/);
    }
    await killed;
  } finally {
    await server.kill();
  }
}

it(
  'kill -9 of the server under load: nothing that it said yes to is lost, nothing is there twice, the file is whole',
  async () => {
    const folder = await temporaryFolder();
    const path = join(folder.path, 'store.db');
    const first = await openSqliteStore({ path });
    await seed(first);
    await first.close();
    const done = new Acknowledged();
    for (let round = 0; round < kills; round += 1) {
      await killUnderLoad({ path, done, prefix: `${round}`, after: 40 + ((round * 17) % 60) });
      const store = await openSqliteStore({ path });
      await assertKept(store, done);
      await store.close();
      const database = new DatabaseSync(path, { readOnly: true });
      expect(query(database, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect(query(database, 'pragma foreign_key_check')).toEqual([]);
      database.close();
    }
    expect(done.count).toBeGreaterThanOrEqual(40 * kills);
    expect(Math.min(done.ended.size, done.spans.size, done.rewards.size)).toBeGreaterThan(0);
    await folder.remove();
  },
  60_000 + kills * 20_000,
);
