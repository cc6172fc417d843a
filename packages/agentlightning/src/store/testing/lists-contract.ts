import { describe, expect, it } from 'vitest';
import { seed } from './fixtures.ts';
import { type OpenHarness, storeTest } from './harness.ts';

/** What an export goes through: everything that no other query lists. */
export function describeLists(open: OpenHarness): void {
  describe('lists', () => {
    it(
      'page through runs, tasks, policy versions and checkpoints',
      storeTest(open, async ({ store }) => {
        await seed(store);
        await store.createRun({ id: 'run-2', config: {} });
        await store.finishRun('run-2', 'finished');
        const runs = await store.queryRuns({ limit: 1 });
        expect(runs.items).toEqual([await store.getRun('run-1')]);
        expect(await store.queryRuns({ limit: 1, after: runs.next! })).toEqual({
          items: [await store.getRun('run-2')],
          next: null,
        });
        expect((await store.queryRuns({ order: 'newest' })).items).toEqual(await store.listRuns());
        expect((await store.queryRuns({ states: ['finished'] })).items).toMatchObject([{ id: 'run-2' }]);

        await store.putTasks(['task-3', 'task-2'].map((id) => ({ id, input: { id }, private: { id } })));
        const tasks = await store.queryTasks({ limit: 2 });
        expect(tasks.items).toMatchObject([{ id: 'task-1' }, { id: 'task-2', private: { id: 'task-2' } }]);
        expect(await store.queryTasks({ after: tasks.next! })).toMatchObject({ items: [{ id: 'task-3' }], next: null });

        const announced = (version: number) => ({ policy: 'p', version, runId: 'run-1', step: version, path: null });
        for (const version of [1, 2, 1]) await store.addPolicyVersion(announced(version));
        await store.addPolicyVersion({ ...announced(7), policy: 'q', runId: 'run-2' });
        const versions = async (query: Parameters<typeof store.queryPolicyVersions>[0]) =>
          (await store.queryPolicyVersions(query)).items.map(({ version }) => version);
        expect(await versions({ policy: 'p' })).toEqual([2, 1]);
        expect(await versions({ runId: 'run-2' })).toEqual([7]);
        expect(await versions({ order: 'newest', limit: 1 })).toEqual([7]);

        const saved = { runId: 'run-1', policy: 'p', path: '/c', policyVersion: 1, state: {} };
        for (const step of [0, 2, 1]) await store.saveCheckpoint({ ...saved, step });
        const first = await store.queryCheckpoints({ runId: 'run-1', limit: 2 });
        expect(first.items.map(({ step }) => step)).toEqual([0, 1]);
        expect((await store.queryCheckpoints({ runId: 'run-1', after: first.next! })).items).toEqual([
          await store.latestCheckpoint('run-1'),
        ]);
        expect((await store.queryCheckpoints({ runId: 'run-2' })).items).toEqual([]);
      }),
    );
  });
}
