import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHttpStore } from '../store/http/index.ts';
import { openMemoryHarness } from '../store/sqlite/testing/index.ts';
import type { Store } from '../store/store.ts';
import { enqueue, leaseOf, type StoreHarness, seed } from '../store/testing/index.ts';
import type { Change } from '../store/types.ts';
import { type BreakingProxy, startBreakingProxy } from './testing/breaking-proxy.ts';
import { adminKey, type StoreServer, serveStore } from './testing/store-server.ts';

let backend: StoreHarness;
let server: StoreServer;
let proxy: BreakingProxy;
let client: Store;
beforeEach(async () => {
  backend = await openMemoryHarness();
  server = await serveStore(backend.store);
  proxy = await startBreakingProxy(server.url);
  client = openHttpStore({ url: proxy.url, key: adminKey, retry: { firstMs: 1, maxMs: 20 } });
  await seed(client);
});
afterEach(async () => {
  await client.close();
  await proxy.close();
  await server.close();
  await backend.dispose();
});

/** Resolves when the client has sent something since. */
async function asked(before: number): Promise<void> {
  while (proxy.received() === before) await new Promise((resolve) => setImmediate(resolve));
}

/** Breaks all connections, and waits until the client asks again. */
async function dropAndWait(): Promise<void> {
  const before = proxy.received();
  proxy.drop();
  await asked(before);
}

async function restart(): Promise<void> {
  const { port } = new URL(server.url);
  await server.close();
  server = await serveStore(backend.store, { port: Number(port) });
}

const lease = { workerId: 'w', limit: 1, leaseMs: 1000 };

describe('a dropped connection', () => {
  it('does not lose, repeat or reorder a change, before the first one and between two', async () => {
    const seen: Change[] = [];
    const stop = new AbortController();
    const feed = (async () => {
      for await (const change of client.changes({ after: 0, signal: stop.signal })) {
        seen.push(change);
        if (seen.length % 3 === 0) proxy.drop();
        if (change.id === 'last') stop.abort();
      }
    })();
    await enqueue(backend.store, ['a', 'b', 'c', 'd', 'e']);
    await restart();
    await enqueue(backend.store, ['f', 'g', 'last']);
    await feed;
    const all: Change[] = [];
    for await (const change of backend.store.changes({ after: 0 })) if (all.push(change) === seen.length) break;
    expect(seen).toEqual(all);
    expect(seen.map(({ id }) => id)).toEqual(['run-1', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'last']);
  });

  it('does not end the wait for rollouts, and each end is told once', async () => {
    await enqueue(client, ['a', 'b']);
    const told: string[] = [];
    let first = (): void => {};
    const toldFirst = new Promise<void>((resolve) => {
      first = resolve;
    });
    const onEnded = ({ id }: { id: string }): void => {
      told.push(id);
      first();
    };
    const waiting = client.waitForRollouts(['b', 'a'], { onEnded });
    await backend.store.cancelRollouts(['a'], 'x');
    await toldFirst;
    await dropAndWait();
    await restart();
    await backend.store.cancelRollouts(['b'], 'x');
    expect((await waiting).map(({ id }) => id)).toEqual(['b', 'a']);
    expect(told).toEqual(['a', 'b']);
  });

  it('does not end a wait for work', async () => {
    const before = proxy.received();
    const claimed = client.claimRollouts({ ...lease, waitMs: 60_000 });
    await asked(before);
    await dropAndWait();
    await restart();
    await enqueue(backend.store, ['a']);
    expect(await claimed).toMatchObject([{ rollout: { id: 'a' } }]);
  });

  it('at the answer of a claim costs a lease, and the rollout is given again', async () => {
    await enqueue(client, ['a']);
    proxy.loseNextAnswer();
    expect(await client.claimRollouts(lease)).toEqual([]);
    expect(await client.getRollout('a')).toMatchObject({ state: 'running', attempts: 1 });
    backend.clock.now += 1000;
    expect(await client.expireLeases()).toBe(1);
    const [claim] = await client.claimRollouts(lease);
    expect(claim).toMatchObject({ rollout: { id: 'a' }, attempt: { number: 2 } });
    proxy.loseNextAnswer();
    expect(await client.finishAttempt(leaseOf(claim!.attempt), { state: 'succeeded' })).toMatchObject({ attempts: 2 });
  });

  it('at the answer of a write that may not be sent twice is told, and the write is not sent again', async () => {
    await enqueue(client, ['a']);
    const [claim] = await client.claimRollouts(lease);
    const attemptId = claim!.attempt.id;
    const reward = { attemptId, name: 'r', value: 1, source: 'grader', agentName: null, callId: null } as const;
    proxy.loseNextAnswer();
    await expect(client.addReward(reward)).rejects.toMatchObject({ code: 'answer_lost' });
    expect(await client.listRewards(attemptId)).toHaveLength(1);
  });
});

it('a feed begins before whatever is asked for later, however slow the answer to that is', async () => {
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow = new Proxy(backend.store, {
    get: (target, name: keyof Store) => {
      if (name === 'lastChange') return () => gate.then(() => target.lastChange());
      return (target[name] as () => unknown).bind(target);
    },
  });
  const slowServer = await serveStore(slow);
  const [here, elsewhere] = [0, 1].map(() => openHttpStore({ url: slowServer.url, key: adminKey })) as [Store, Store];
  const changes = here.changes();
  const created = here.createRun({ id: 'later', config: {} });
  // Time enough for the run, if nothing held it back.
  for (let round = 0; round < 5; round += 1) await elsewhere.getRun('later');
  open();
  await created;
  for await (const { id } of changes) {
    expect(id).toBe('later');
    break;
  }
  await Promise.all([here.close(), elsewhere.close()]);
  await slowServer.close();
});

describe('a server that is away', () => {
  it('is waited for', async () => {
    const { port } = new URL(server.url);
    await server.close();
    const task = client.getTask('task-1');
    server = await serveStore(backend.store, { port: Number(port) });
    expect(await task).toMatchObject({ id: 'task-1' });
  });

  it('is an error with its address once patience ends, and a closed client does not wait', async () => {
    const { url } = proxy;
    await proxy.close();
    const impatient = openHttpStore({ url, key: adminKey, retry: { firstMs: 1, patienceMs: 5 } });
    await expect(impatient.listRuns()).rejects.toMatchObject({ code: 'store_unreachable', retryable: true });
    await expect(impatient.listRuns()).rejects.toThrow(url);
    await impatient.close();
    const closed = expect(client.listRuns()).rejects.toMatchObject({ code: 'store_closed' });
    await client.close();
    await closed;
  });
});
