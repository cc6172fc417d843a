import { describe, expect, it } from 'vitest';
import type { Store } from '../store.ts';
import { enqueue, leaseOf, seed } from '../testing/index.ts';
import type { Change } from '../types.ts';
import { openPostgresStore, type PostgresStoreOptions } from './open.ts';
import { said, startWorker, storeUrl } from './testing/index.ts';

/** Longer than any test: what is seen before was not seen by looking again. */
const neverMs = 3_600_000;

async function withStores<T>(
  options: Omit<PostgresStoreOptions, 'url'>[],
  use: (stores: Store[], url: string) => Promise<T>,
) {
  const url = storeUrl();
  const stores = await Promise.all(options.map((each) => openPostgresStore({ url, connections: 3, ...each })));
  try {
    return await use(stores, url);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

describe('several servers on one database', () => {
  it('make its tables once when they start together', () =>
    withStores([{}, {}, {}, {}], async ([first, ...others]) => {
      await first!.createRun({ id: 'run-1', config: {} });
      for (const other of others) expect(await other.listRuns()).toHaveLength(1);
    }));

  it('share the work of one trainer: each rollout is done once, and the trainer is told', () =>
    withStores([{ recheckMs: neverMs }], async ([trainer], url) => {
      await seed(trainer!);
      const workers = ['one', 'two', 'three'].map((name) => startWorker(url, name));
      await Promise.all(workers.map((worker) => worker.written(1)));
      const ids = Array.from({ length: 120 }, (_, at) => `rollout-${at}`);
      for (let at = 0; at < ids.length; at += 10) await enqueue(trainer!, ids.slice(at, at + 10));
      const rollouts = await trainer!.waitForRollouts(ids);
      await Promise.all(workers.map((worker) => worker.kill()));
      expect(rollouts.map(({ state, attempts }) => [state, attempts])).toEqual(ids.map(() => ['succeeded', 1]));
      const shares = workers.map((worker) => said(worker, 'claimed').length);
      expect(Math.min(...shares)).toBeGreaterThan(0);
    }));

  it('tell a feed every change once and in order, however their commits overlap', () =>
    withStores([{ recheckMs: neverMs }], async ([reader], url) => {
      await seed(reader!);
      const changes: Change[] = [];
      const stop = new AbortController();
      const following = (async () => {
        for await (const change of reader!.changes({ after: 0, signal: stop.signal })) changes.push(change);
      })();
      const workers = ['one', 'two', 'three'].map((name) => startWorker(url, name, { enqueue: true }));
      await Promise.all(workers.map((worker) => worker.written(400)));
      await Promise.all(workers.map((worker) => worker.kill()));
      await reader!.createRun({ id: 'last', config: {} });
      while (!changes.some(({ id }) => id === 'last')) await new Promise((resolve) => setImmediate(resolve));
      stop.abort();
      await following;
      const all: Change[] = [];
      for await (const change of reader!.changes({ after: 0 })) if (all.push(change) === changes.length) break;
      expect(changes).toEqual(all);
      for (const worker of workers) {
        const told = new Set(changes.map(({ kind, id, state }) => `${kind} ${id} ${state}`));
        expect(said(worker, 'ended').filter((id) => !told.has(`rollout ${id} succeeded`))).toEqual([]);
      }
    }));

  it('do without notifications, a little later', () =>
    withStores(
      [
        { listen: false, recheckMs: 100 },
        { listen: false, recheckMs: 100 },
      ],
      async ([trainer, server]) => {
        await seed(trainer!);
        const claiming = server!.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 60_000, waitMs: 60_000 });
        const [, change] = [await enqueue(trainer!, ['a']), firstChange(trainer!)];
        const [claim] = await claiming;
        const ended = trainer!.waitForRollouts(['a']);
        await server!.finishAttempt(leaseOf(claim!.attempt), { state: 'succeeded' });
        expect(await ended).toMatchObject([{ state: 'succeeded' }]);
        expect(await change).toMatchObject({ kind: 'rollout', id: 'a', state: 'running' });
      },
    ));

  it('give what a killed worker held to another one', () =>
    withStores([{}, {}], async ([trainer, server]) => {
      await seed(trainer!);
      await enqueue(trainer!, ['a']);
      const [lost] = await trainer!.claimRollouts({ workerId: 'lost', limit: 1, leaseMs: 1 });
      let expired = 0;
      while (expired === 0) expired = await server!.expireLeases();
      const [claim] = await server!.claimRollouts({ workerId: 'next', limit: 1, leaseMs: 60_000 });
      expect(claim).toMatchObject({ rollout: { id: 'a' }, attempt: { number: 2 } });
      expect(await trainer!.heartbeat(leaseOf(lost!.attempt), 1000)).toBe(false);
    }));

  it('may expire, end and cancel the same attempts at the same time: each rollout ends in one way', () =>
    withStores([{}, {}, {}], async ([a, b, c]) => {
      await seed(a!);
      const ids = Array.from({ length: 60 }, (_, at) => `rollout-${at}`);
      await enqueue(a!, ids, { maxAttempts: 1 });
      const claims = await a!.claimRollouts({ workerId: 'w', limit: 60, leaseMs: 1 });
      await Promise.all([
        Promise.allSettled(claims.map(({ attempt }) => a!.finishAttempt(leaseOf(attempt), { state: 'succeeded' }))),
        b!.cancelRollouts([...ids].reverse(), 'enough'),
        c!.expireLeases(),
      ]);
      await c!.expireLeases();
      for (const rollout of await a!.listRollouts({})) {
        const [attempt] = await a!.listAttempts(rollout.id);
        expect(attempt?.state).toBe(rollout.state);
        expect(attempt?.failure?.code).toBe(rollout.failure?.code);
      }
      expect(await b!.getWorker('w')).toMatchObject({ running: 0 });
    }));

  it('count versions without a gap when they add resources of one name together', () =>
    withStores([{}, {}, {}], async (stores) => {
      const added = await Promise.all(
        Array.from({ length: 30 }, (_, at) =>
          stores[at % 3]!.addResource({ name: 'prompt', kind: 'prompt', content: { text: `say ${at}` } }),
        ),
      );
      const versions = added.map(({ version }) => version).sort((x, y) => x - y);
      expect(versions).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
    }));
});

async function firstChange(store: Store): Promise<Change | undefined> {
  for await (const change of store.changes()) return change;
  return undefined;
}
