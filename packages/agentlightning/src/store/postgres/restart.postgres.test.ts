import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../store.ts';
import { seed } from '../testing/index.ts';
import { openPostgresStore } from './open.ts';
import { said, startPostgres, startWorker, storeUrl } from './testing/index.ts';

let server: Awaited<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  server = await startPostgres(process.env.AGL_TEST_POSTGRES_PROGRAMS!);
});
afterAll(() => server.dispose());

/** What the store has of everything that the workers did, one id for each. */
async function contents(store: Store) {
  const found = { rollouts: [] as string[], attempts: [] as string[], calls: [] as string[], rewards: [] as string[] };
  for (const rollout of await store.listRollouts({})) {
    found.rollouts.push(rollout.id);
    for (const attempt of await store.listAttempts(rollout.id)) {
      found.attempts.push(attempt.id);
      found.calls.push(...(await store.listCalls(attempt.id)).map(({ id }) => id));
      found.rewards.push(...(await store.listRewards(attempt.id)).map(({ attemptId }) => attemptId));
    }
  }
  return found;
}

const missing = (wanted: string[], found: string[]): string[] => {
  const all = new Set(found);
  return wanted.filter((id) => !all.has(id));
};

describe('PostgreSQL going away under load', () => {
  it('makes clients wait and go on: nothing acknowledged is lost, nothing is doubled', async () => {
    const url = storeUrl(server.url);
    const store = await openPostgresStore({ url });
    await seed(store);
    const workers = ['one', 'two', 'three'].map((name) => startWorker(url, name, { enqueue: true }));
    const progress = (lines: number) =>
      Promise.all(workers.map((worker) => worker.written(worker.lines.length + lines)));
    await progress(100);
    for (const end of ['kill', 'stop', 'kill', 'stop', 'kill', 'kill'] as const) {
      await server[end]();
      const listed = store.listRuns(); // asked for while it is away
      await server.start();
      expect(await listed).toHaveLength(1);
      await progress(150);
    }
    await Promise.all(workers.map((worker) => worker.kill()));

    const found = await contents(store);
    for (const ids of Object.values(found)) expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    // Each claim came to its worker, also when the answer to its commit was lost: no rollout had to be taken twice.
    const open = await store.listRollouts({ states: ['running'] });
    expect(open.length).toBeLessThanOrEqual(workers.length * 4);
    expect(found.attempts.length).toBe(
      found.rollouts.length - (await store.listRollouts({ states: ['queued'] })).length,
    );
    for (const worker of workers) {
      expect(missing(said(worker, 'queued'), found.rollouts)).toEqual([]);
      expect(missing(said(worker, 'claimed'), found.attempts)).toEqual([]);
      expect(missing(said(worker, 'call'), found.calls)).toEqual([]);
      expect(missing(said(worker, 'reward'), found.rewards)).toEqual([]);
      for (const id of said(worker, 'ended')) expect(await store.getRollout(id)).toMatchObject({ state: 'succeeded' });
    }
    await store.close();
  });

  it('is an error that can be tried again when it lasts too long, and at once when the store is closed', async () => {
    const url = storeUrl(server.url);
    const impatient = await openPostgresStore({ url, outageMs: 300 });
    const patient = await openPostgresStore({ url });
    await server.stop();
    const unavailable = { code: 'store_unavailable', retryable: true };
    await expect(impatient.listRuns()).rejects.toMatchObject(unavailable);
    const waiting = patient.createRun({ id: 'run-9', config: {} });
    await Promise.all([expect(waiting).rejects.toMatchObject(unavailable), patient.close()]);
    const closed = openPostgresStore({ url });
    await expect(closed).rejects.toMatchObject({ ...unavailable, message: expect.not.stringContaining('p:w') });
    await server.start();
    expect(await impatient.listRuns()).toEqual([]);
    await impatient.close();
  });
});
