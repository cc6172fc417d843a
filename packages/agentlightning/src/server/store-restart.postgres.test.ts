import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPostgresStore } from '../store/postgres/index.ts';
import { said, startPostgres, storeUrl } from '../store/postgres/testing/index.ts';
import { seed, startProgram } from '../store/testing/index.ts';
import { adminKey, serveStore } from './testing/store-server.ts';

let database: Awaited<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  database = await startPostgres(process.env.AGL_TEST_POSTGRES_PROGRAMS!);
});
afterAll(() => database.dispose());

it('PostgreSQL restarted under load: clients over HTTP wait and go on, nothing acknowledged is lost, nothing is doubled', async () => {
  const store = await openPostgresStore({ url: storeUrl(database.url) });
  await seed(store);
  const server = await serveStore(store);
  const clients = ['one', 'two', 'three'].map((name) =>
    startProgram(new URL('./testing/store-reporter.js', import.meta.url), [server.url, adminKey, name]),
  );
  try {
    const progress = (lines: number) =>
      Promise.all(clients.map((client) => client.written(client.lines.length + lines)));
    await progress(40);
    for (const end of ['stop', 'kill', 'stop', 'kill'] as const) {
      await database[end]();
      await database.start();
      await progress(60);
    }
    await Promise.all(clients.map((client) => client.kill()));

    const rollouts = (await store.listRollouts({})).map(({ id }) => id);
    const attempts = (await Promise.all(rollouts.map((id) => store.listAttempts(id)))).flat();
    const calls = (await Promise.all(attempts.map(({ id }) => store.listCalls(id)))).flat().map(({ id }) => id);
    expect(new Set(calls).size).toBe(calls.length);
    // Each answer came, so no rollout had to be taken twice.
    expect(new Set(attempts.map(({ rolloutId }) => rolloutId)).size).toBe(attempts.length);
    const found = { queued: rollouts, claimed: attempts.map(({ id }) => id), call: calls };
    for (const client of clients) {
      for (const [kind, ids] of Object.entries(found)) {
        const kept = new Set(ids);
        expect(
          said(client, kind).filter((id) => !kept.has(id)),
          kind,
        ).toEqual([]);
      }
      for (const id of said(client, 'ended')) expect(await store.getRollout(id)).toMatchObject({ state: 'succeeded' });
    }
  } finally {
    await Promise.all(clients.map((client) => client.kill()));
    await server.close();
    await store.close();
  }
});
