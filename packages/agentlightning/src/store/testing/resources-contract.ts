import { describe, expect, it } from 'vitest';
import { claimNext, claimOne, crash, enqueue, leaseOf, rolloutRequest, seed } from './fixtures.ts';
import { type OpenHarness, storeTest } from './harness.ts';

const prompt = (text: string) => ({ name: 'prompt', kind: 'prompt' as const, content: { text, role: 'system' } });

export function describeResources(open: OpenHarness): void {
  describe('resources', () => {
    it(
      'count versions by name, and know content that was there before, whatever the order of its keys',
      storeTest(open, async ({ store, clock, reopen }) => {
        const first = await store.addResource(prompt('a'));
        expect(first).toMatchObject({ ...prompt('a'), version: 1, createdAt: clock.now });
        clock.now += 5;
        expect(await store.addResource(prompt('b'))).toMatchObject({ version: 2 });
        expect(await store.addResource({ ...prompt('b'), content: { role: 'system', text: 'b' } })).toMatchObject({
          version: 2,
        });
        expect(await store.addResource({ ...prompt('a'), name: 'other' })).toMatchObject({ version: 1 });
        expect(await store.addResource({ ...prompt('a'), kind: 'model' })).toMatchObject({ version: 3 });
        expect(await store.getResource('prompt', 1)).toEqual(first);
        expect(await store.getResource('prompt', 9)).toBeNull();
        const latest = await (await reopen()).latestResources();
        expect(latest.map(({ name, version }) => [name, version])).toEqual([
          ['other', 1],
          ['prompt', 3],
        ]);
      }),
    );

    it(
      'make the version that was added last the latest, also when it is an earlier one again',
      storeTest(open, async ({ store }) => {
        for (const text of ['a', 'b']) await store.addResource(prompt(text));
        expect(await store.addResource(prompt('a'))).toMatchObject({ version: 1 });
        expect(await store.latestResources(['prompt', 'nobody'])).toMatchObject([{ version: 1 }]);
        expect(await store.latestResources([])).toEqual([]);
      }),
    );

    it(
      'leave a draft out of what is latest, until it is added for good',
      storeTest(open, async ({ store, reopen }) => {
        const draft = (text: string) => store.addResource({ ...prompt(text), draft: true });
        expect(await draft('a')).toMatchObject({ version: 1 });
        expect(await draft('b')).toMatchObject({ version: 2 });
        expect(await draft('a')).toMatchObject({ version: 1 });
        expect(await store.latestResources()).toEqual([]);
        await store.addResource(prompt('c'));
        await draft('d');
        expect(await draft('c')).toMatchObject({ version: 3 });
        const reopened = await reopen();
        expect(await reopened.latestResources()).toMatchObject([{ version: 3 }]);
        expect((await reopened.queryResources({ name: 'prompt' })).items).toHaveLength(4);
        const { attempt } = await claimOne(reopened, { resources: { prompt: 2 } });
        expect(attempt.resources).toEqual({ prompt: 2 });
        await reopened.addResource(prompt('b'));
        expect(await reopened.latestResources()).toMatchObject([{ version: 2 }]);
      }),
    );

    it(
      'are fixed for an attempt when it is claimed, and by the rollout when it names them',
      storeTest(open, async ({ store }) => {
        await store.addResource(prompt('a'));
        await store.addResource({ ...prompt('x'), name: 'judge' });
        const { attempt } = await claimOne(store, { resources: { prompt: 1 } });
        await store.addResource(prompt('b'));
        await store.addResource({ ...prompt('y'), name: 'judge' });
        expect((await store.getAttempt(attempt.id))?.resources).toEqual({ prompt: 1, judge: 1 });
        await store.finishAttempt(leaseOf(attempt), { state: 'failed', failure: crash });
        const again = await claimNext(store);
        expect(again.rollout.resources).toEqual({ prompt: 1 });
        expect(again.attempt.resources).toEqual({ prompt: 1, judge: 2 });
        await enqueue(store, ['free']);
        expect((await claimNext(store)).attempt.resources).toEqual({ prompt: 2, judge: 2 });
      }),
    );

    it(
      'must exist when a rollout names them',
      storeTest(open, async ({ store }) => {
        await seed(store);
        const refused = store.enqueueRollouts([rolloutRequest('a', { resources: { prompt: 7 } })]);
        await expect(refused).rejects.toMatchObject({ code: 'resource_not_found' });
        await expect(refused).rejects.toThrow('prompt@7');
        expect(await store.getRollout('a')).toBeNull();
      }),
    );
  });
}
