import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Page, PageRequest } from '../queries.ts';
import { callOf, claimNext, claimOne, crash, enqueue, leaseOf, seed } from './fixtures.ts';
import { type OpenHarness, storeTest, withStore } from './harness.ts';
import { spanOf } from './spans-contract.ts';

async function allPages<T>(query: (page: PageRequest) => Promise<Page<T>>, page: PageRequest): Promise<T[][]> {
  const pages: T[][] = [];
  for (let after: string | undefined; ; ) {
    const { items, next } = await query(after === undefined ? page : { ...page, after });
    pages.push(items);
    if (next === null) return pages;
    after = next;
  }
}

export function describeQueries(open: OpenHarness): void {
  describe('pages', () => {
    it('together are the whole list in order, in pages of the size asked for, in both directions', async () => {
      const sizes = fc.tuple(fc.nat(12), fc.integer({ min: 1, max: 5 }), fc.constantFrom('oldest', 'newest'));
      await fc.assert(
        fc.asyncProperty(sizes, async ([count, limit, order]) => {
          await withStore(open, async ({ store }) => {
            await seed(store);
            const ids = Array.from({ length: count }, (_, at) => `r${(at * 7) % 13}`);
            await enqueue(store, ids);
            const pages = await allPages((page) => store.queryRollouts(page), { limit, order });
            const expected = order === 'oldest' ? ids : ids.toReversed();
            expect(pages.flat().map(({ id }) => id)).toEqual(expected);
            expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
          });
        }),
        { numRuns: 15 },
      );
    });

    it(
      'neither skip nor repeat when rows come meanwhile, and refuse foreign cursors',
      storeTest(open, async ({ store }) => {
        await seed(store);
        await enqueue(store, ['a', 'b', 'c']);
        const first = await store.queryRollouts({ limit: 2, order: 'newest' });
        await enqueue(store, ['d']);
        const second = await store.queryRollouts({ limit: 2, order: 'newest', after: first.next! });
        expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(['c', 'b', 'a']);
        expect(second.next).toBeNull();
        for (const bad of [{ after: 'x' }, { after: '-1' }]) {
          await expect(store.queryCalls(bad)).rejects.toMatchObject({ code: 'invalid_cursor' });
        }
        for (const limit of [0, 1001, 1.5]) {
          await expect(store.queryCalls({ limit })).rejects.toMatchObject({ code: 'invalid_value' });
        }
      }),
    );
  });

  describe('filters', () => {
    it(
      'find rollouts by what they are, how they ended and who took part',
      storeTest(open, async ({ store, clock }) => {
        const claim = await claimOne(store, { maxAttempts: 1 });
        await store.recordCall(callOf(claim, 0));
        await store.finishAttempt(leaseOf(claim.attempt), { state: 'failed', failure: crash });
        await store.createRun({ id: 'run-2', config: {} });
        await store.putTasks([{ id: 'task-2', input: {}, private: {} }]);
        clock.now += 10;
        await enqueue(store, ['other'], {
          runId: 'run-2',
          taskId: 'task-2',
          groupId: 'g2',
          step: 4,
          mode: 'validation',
        });
        const ids = async (query: Parameters<typeof store.queryRollouts>[0]) =>
          (await store.queryRollouts(query)).items.map(({ id }) => id);
        const firstOnly: Parameters<typeof store.queryRollouts>[0][] = [
          { runId: 'run-1' },
          { taskId: 'task-1' },
          { groupId: 'group-1' },
          { step: 0 },
          { mode: 'train' },
          { states: ['failed'] },
          { failureClass: 'infrastructure' },
          { failureCode: 'grader_crash' },
          { agentName: 'solver' },
          { model: 'policy', policy: 'policy' },
          { createdAt: { to: clock.now } },
        ];
        for (const query of firstOnly) expect(await ids(query), JSON.stringify(query)).toEqual(['rollout-1']);
        expect(await ids({ createdAt: { from: clock.now } })).toEqual(['other']);
        expect(await ids({ createdAt: { from: clock.now + 1 } })).toEqual([]);
        expect(await ids({ failureClass: 'agent' })).toEqual([]);
        expect(await ids({ agentName: 'nobody' })).toEqual([]);
        expect(await ids({ states: [] })).toEqual([]);
        expect((await store.queryAttempts({ runId: 'run-1' })).items).toMatchObject([{ id: claim.attempt.id }]);
        expect((await store.queryAttempts({ states: ['running'] })).items).toEqual([]);
      }),
    );

    it(
      'find the thousands of a range of time, page by page, whatever the clock did meanwhile',
      storeTest(open, async ({ store, clock }) => {
        await seed(store);
        const start = clock.now;
        const wanted: string[] = [];
        for (const [at, size, within] of [
          [5, 3, false],
          [10, 900, true],
          [20, 2, false],
          [11, 900, true],
          [4, 1, false],
          [19, 300, true],
        ] as const) {
          clock.now = start + at;
          const ids = Array.from({ length: size }, (_, index) => `at-${at}-${index}`);
          await enqueue(store, ids);
          if (within) wanted.push(...ids);
        }
        const createdAt = { from: start + 10, to: start + 20 };
        for (const order of ['oldest', 'newest'] as const) {
          const pages = await allPages((page) => store.queryRollouts({ createdAt, ...page }), { order, limit: 1000 });
          const found = pages.flat().map(({ id }) => id);
          expect(found).toEqual(order === 'oldest' ? wanted : [...wanted].reverse());
        }
      }),
    );

    it(
      'find calls, by the id of their answer too, and getCall has the whole of each',
      storeTest(open, async ({ store }) => {
        const claim = await claimOne(store, { step: 2 });
        const calls = [
          callOf(claim, 0),
          callOf(claim, 1, { response: { id: 'chat-1' }, agentName: null, policy: null, startedAt: 5 }),
          callOf(claim, 2, { untrainable: 'cancelled', model: 'frozen', promptIds: null, choices: [] }),
        ];
        for (const call of calls) await store.recordCall(call);
        for (const call of calls) expect(await store.getCall(call.id)).toEqual(call);
        expect(await store.getCall('nobody')).toBeNull();
        const found = async (query: Parameters<typeof store.queryCalls>[0]) =>
          (await store.queryCalls(query)).items.map(({ sequence }) => sequence);
        expect(await found({ responseId: 'chat-1' })).toEqual([1]);
        expect(await found({ responseId: 'chat-2' })).toEqual([]);
        expect(await found({ agentName: null })).toEqual([1]);
        expect(await found({ policy: 'policy' })).toEqual([0, 2]);
        expect(await found({ model: 'frozen' })).toEqual([2]);
        expect(await found({ untrainable: true })).toEqual([2]);
        expect(await found({ untrainable: false })).toEqual([0, 1]);
        expect(await found({ untrainable: 'missing_log_probs' })).toEqual([]);
        expect(await found({ startedAt: { from: 5, to: 6 } })).toEqual([1]);
        expect(await found({ startedAt: { from: 1, to: 5 } })).toEqual([]);
        expect(await found({ late: true })).toEqual([]);
        expect(await found({ runId: 'run-1', taskId: 'task-1', step: 2, rolloutId: 'rollout-1' })).toEqual([0, 1, 2]);
        expect(await found({ step: 3 })).toEqual([]);
        expect((await store.queryCalls({ attemptId: claim.attempt.id })).items).toMatchObject([
          { id: calls[0]!.id, runId: 'run-1', rolloutId: 'rollout-1', promptTokens: 20, sampledTokens: 5, late: false },
          { promptTokens: 35, responseId: 'chat-1' },
          { promptTokens: null, sampledTokens: 0 },
        ]);
      }),
    );

    it(
      'find spans, rewards and annotations of a rollout',
      storeTest(open, async ({ store, clock }) => {
        const claim = await claimOne(store);
        const attemptId = claim.attempt.id;
        const rewards = [{ name: 'reward', value: 0.5, agentName: 'solver', callId: null }];
        await store.addSpans([{ span: spanOf(attemptId, '1'), rewards }]);
        await enqueue(store, ['other']);
        const other = await claimNext(store);
        await store.addSpans([{ span: spanOf(other.attempt.id, '1', { status: 'ok' }), rewards: [] }]);
        expect((await store.querySpans({ runId: 'run-1' })).items).toHaveLength(2);
        expect((await store.querySpans({ rolloutId: 'rollout-1' })).items).toMatchObject([{ attemptId }]);
        expect((await store.querySpans({ status: 'error', kind: 'client' })).items).toMatchObject([{ attemptId }]);
        expect((await store.querySpans({ traceId: 'b'.repeat(32) })).items).toEqual([]);
        expect((await store.queryRewards({ rolloutId: 'rollout-1', agentName: 'solver' })).items).toHaveLength(1);
        expect((await store.queryRewards({ source: 'grader' })).items).toEqual([]);

        const target = { kind: 'rollout', id: 'rollout-1' } as const;
        const note = { target, key: 'verdict \0', value: { good: true }, author: 'me' };
        expect(await store.annotate(note)).toEqual({ ...note, createdAt: clock.now });
        await store.annotate({ ...note, value: null });
        const kept = (await store.queryAnnotations({ target })).items;
        expect(kept.map(({ value }) => value)).toEqual([{ good: true }, null]);
        expect((await store.queryAnnotations({ author: 'you' })).items).toEqual([]);
        const stray = store.annotate({ ...note, target: { kind: 'call', id: 'nobody' } });
        await expect(stray).rejects.toMatchObject({ code: 'call_not_found' });
      }),
    );
  });
}
