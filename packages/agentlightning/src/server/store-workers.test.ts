import { expect, it } from 'vitest';
import { makeKey } from '../gateway/index.ts';
import { openSqliteHarness } from '../store/sqlite/testing/index.ts';
import { enqueue, seed, startProgram } from '../store/testing/index.ts';
import { adminKey, serveStore } from './testing/store-server.ts';

const key = makeKey(adminKey, { scope: 'controller', expiresAt: Date.now() + 3_600_000 });

it('workers in processes of their own share the work of one server; what a killed one held is given again', async () => {
  const backend = await openSqliteHarness();
  const server = await serveStore(backend.store);
  const start = (name: string) =>
    startProgram(new URL('./testing/store-worker.js', import.meta.url), [server.url, key, name]);
  await seed(backend.store);
  const mute = start('mute');
  const others = ['one', 'two'].map(start);
  try {
    await Promise.all([mute, ...others].map((worker) => worker.written(1)));
    const ids = Array.from({ length: 60 }, (_, at) => `rollout-${at}`);
    for (let at = 0; at < ids.length; at += 10)
      await enqueue(backend.store, ids.slice(at, at + 10), { maxAttempts: 2 });
    await mute.written(2);
    await mute.kill();
    const held = mute.lines.slice(1).map((line) => line.slice('claimed '.length));
    // Everything else has ended, and only then the lease of the dead one runs out.
    await backend.store.waitForRollouts(ids.filter((id) => !held.includes(id)));
    backend.clock.now += 60_000;
    expect(await backend.store.expireLeases()).toBe(held.length);

    const rollouts = await backend.store.waitForRollouts(ids);
    expect(rollouts.map(({ state }) => state)).toEqual(ids.map(() => 'succeeded'));
    expect(rollouts.map(({ id, attempts }) => [id, attempts])).toEqual(
      ids.map((id) => [id, held.includes(id) ? 2 : 1]),
    );
    for (const id of ids) {
      const attempt = (await backend.store.listAttempts(id)).at(-1)!;
      expect(await backend.store.listRewards(attempt.id)).toMatchObject([{ value: 1, source: 'grader' }]);
    }
    const { items } = await backend.store.queryAttempts({ states: ['succeeded'], limit: 1000 });
    expect(new Set(items.map(({ output }) => output))).toEqual(new Set(['one', 'two']));
  } finally {
    await Promise.all([mute, ...others].map((worker) => worker.kill()));
    await server.close();
    await backend.dispose();
  }
});
