import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enqueue, rolloutRequest, seed } from './fixtures.ts';
import { type OpenHarness, storeTest, withStore } from './harness.ts';

export function describeQueue(open: OpenHarness): void {
  describe('queue', () => {
    it(
      'enqueues an id once and returns what is there',
      storeTest(open, async ({ store, clock }) => {
        await seed(store);
        const [first] = await enqueue(store, ['a'], { seed: 11 });
        expect(first).toEqual({
          ...rolloutRequest('a', { seed: 11 }),
          state: 'queued',
          attempts: 0,
          failure: null,
          superseded: false,
          resources: {},
          createdAt: clock.now,
          endedAt: null,
        });
        await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 1000 });
        const again = await enqueue(store, ['b', 'a', 'b'], { seed: 99 });
        expect(again.map(({ id, seed: kept, state }) => [id, kept, state])).toEqual([
          ['b', 99, 'queued'],
          ['a', 11, 'running'],
          ['b', 99, 'queued'],
        ]);
        expect(await store.listRollouts({})).toHaveLength(2);
      }),
    );

    it(
      'keeps nothing of a list that names an unknown task or run, or has no whole numbers',
      storeTest(open, async ({ store }) => {
        await seed(store);
        const good = rolloutRequest('good');
        const attempts = [
          { request: rolloutRequest('bad', { taskId: 'task-9' }), says: 'The store has no task "task-9"' },
          { request: rolloutRequest('bad', { runId: 'run-9' }), says: 'The store has no run "run-9"' },
          { request: rolloutRequest('bad', { step: 0.5 }), says: 'Rollout "bad" has step 0.5' },
          { request: rolloutRequest('bad', { maxAttempts: 0 }), says: 'Rollout "bad" has maxAttempts 0' },
        ];
        for (const { request, says } of attempts) {
          await expect(store.enqueueRollouts([good, request])).rejects.toThrow(says);
        }
        expect(await store.listRollouts({})).toEqual([]);
      }),
    );

    it(
      'gives the oldest first, with attempt and task, and of one run when asked',
      storeTest(open, async ({ store, clock }) => {
        await seed(store);
        await store.createRun({ id: 'run-2', config: {} });
        await enqueue(store, ['z']);
        await enqueue(store, ['y'], { runId: 'run-2' });
        await enqueue(store, ['x', 'w']);
        const [claim] = await store.claimRollouts({ workerId: 'w1', limit: 1, leaseMs: 500, runId: 'run-2' });
        expect(claim).toMatchObject({ rollout: { id: 'y', state: 'running', attempts: 1 } });
        expect(claim?.task).toEqual(await store.getTask('task-1'));
        expect(claim?.attempt).toEqual({
          id: claim?.attempt.id,
          rolloutId: 'y',
          number: 1,
          state: 'running',
          failure: null,
          workerId: 'w1',
          leaseUntil: clock.now + 500,
          output: null,
          exitCode: null,
          resources: {},
          startedAt: clock.now,
          endedAt: null,
        });
        expect(await store.getAttempt(claim!.attempt.id)).toEqual(claim?.attempt);
        const rest = await store.claimRollouts({ workerId: 'w1', limit: 9, leaseMs: 500 });
        expect(rest.map(({ rollout }) => rollout.id)).toEqual(['z', 'x', 'w']);
        expect(await store.claimRollouts({ workerId: 'w1', limit: 9, leaseMs: 500 })).toEqual([]);
      }),
    );

    it('never gives a rollout twice, however claims and enqueues interleave', async () => {
      const limits = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: 30 }), limits, fc.context(), async (count, wanted, context) => {
          await withStore(open, async ({ store, inOrder }) => {
            await seed(store);
            const ids = Array.from({ length: count }, (_, at) => `rollout-${at}`);
            const early = ids.slice(0, count / 2);
            await enqueue(store, early);
            const [, ...claims] = await Promise.all([
              enqueue(store, ids),
              ...wanted.map((limit, at) => store.claimRollouts({ workerId: `w${at}`, limit, leaseMs: 1000 })),
            ]);
            const taken = claims.flat().map(({ rollout }) => rollout.id);
            context.log(taken.join(' '));
            const wantedInAll = wanted.reduce((sum, limit) => sum + limit, 0);
            if (inOrder) expect(taken).toEqual(ids.slice(0, wantedInAll));
            for (const [at, claim] of claims.entries()) {
              expect(claim.length).toBeLessThanOrEqual(wanted[at]!);
              const places = claim.map(({ rollout }) => ids.indexOf(rollout.id));
              expect(places).toEqual(places.toSorted((a, b) => a - b));
            }
            const left = await store.listRollouts({ states: ['queued'] });
            expect([...taken, ...left.map(({ id }) => id)].toSorted()).toEqual(ids.toSorted());
          });
        }),
        { numRuns: 15 },
      );
    });

    it(
      'lists by run, step, mode and state, oldest first, without superseded ones unless asked',
      storeTest(open, async ({ store }) => {
        await seed(store);
        await enqueue(store, ['a', 'b'], { step: 1 });
        await enqueue(store, ['c'], { step: 2, mode: 'validation' });
        await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 1000 });
        await store.supersedeAfter('run-1', 1);
        const ids = async (query: Parameters<typeof store.listRollouts>[0]): Promise<string[]> =>
          (await store.listRollouts(query)).map((rollout) => rollout.id);
        expect(await ids({ runId: 'run-1' })).toEqual(['a', 'b']);
        expect(await ids({ runId: 'run-1', includeSuperseded: true })).toEqual(['a', 'b', 'c']);
        expect(await ids({ states: ['running', 'cancelled'], includeSuperseded: true })).toEqual(['a', 'c']);
        expect(await ids({ states: [] })).toEqual([]);
        expect(await ids({ mode: 'validation', includeSuperseded: true })).toEqual(['c']);
        expect(await ids({ step: 1 })).toEqual(['a', 'b']);
        expect(await ids({ runId: 'run-2' })).toEqual([]);
      }),
    );
  });
}
