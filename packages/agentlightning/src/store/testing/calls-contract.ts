import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callBytes } from './call-bytes.ts';
import { callTrees } from './call-trees-arbitrary.ts';
import { callOf, claimOne, leaseOf } from './fixtures.ts';
import { type OpenHarness, storeTest, withStore } from './harness.ts';

export function describeCalls(open: OpenHarness): void {
  describe('calls', () => {
    it(
      'lists calls in order of their sequence, whole',
      storeTest(open, async ({ store }) => {
        const claim = await claimOne(store);
        const calls = [2, 0, 1].map((sequence) => callOf(claim, sequence));
        for (const call of calls) await store.recordCall(call);
        const listed = await store.listCalls(claim.attempt.id);
        expect(listed.map((call) => call.sequence)).toEqual([0, 1, 2]);
        expect(listed).toEqual([0, 1, 2].map((sequence) => callOf(claim, sequence)));
      }),
    );

    it(
      'keeps a call once, however often it is recorded',
      storeTest(open, async ({ store }) => {
        const claim = await claimOne(store);
        await Promise.all([0, 0, 1, 0].map((sequence) => store.recordCall(callOf(claim, sequence))));
        await store.recordCall(callOf(claim, 1));
        const listed = await store.listCalls(claim.attempt.id);
        expect(listed.map(callBytes)).toEqual([0, 1].map((sequence) => callBytes(callOf(claim, sequence))));
      }),
    );

    it(
      'keeps calls without ids, without an answer and with an error',
      storeTest(open, async ({ store }) => {
        const claim = await claimOne(store);
        const broken = callOf(claim, 0, {
          promptIds: null,
          choices: [],
          response: null,
          untrainable: 'upstream_error',
          error: 'HTTP 500: \0',
          agentName: null,
          policy: null,
          timeToFirstTokenMs: 0.5,
        });
        const empty = callOf(claim, 1, { promptIds: new Int32Array(0), request: {} });
        await store.recordCall(broken);
        await store.recordCall(empty);
        expect(await store.listCalls(claim.attempt.id)).toEqual([broken, empty]);
      }),
    );

    it(
      'keeps a call that arrives after its attempt has ended',
      storeTest(open, async ({ store }) => {
        const claim = await claimOne(store);
        await store.recordCall(callOf(claim, 0));
        await store.finishAttempt(leaseOf(claim.attempt), { state: 'succeeded' });
        await store.recordCall(callOf(claim, 1));
        expect(await store.listCalls(claim.attempt.id)).toHaveLength(2);
      }),
    );

    it(
      'refuses calls of an unknown attempt or of another rollout; their neighbours are kept',
      storeTest(open, async ({ store }) => {
        const claim = await claimOne(store);
        const results = await Promise.allSettled([
          store.recordCall(callOf(claim, 0)),
          store.recordCall(callOf(claim, 1, { attemptId: 'attempt-9' })),
          store.recordCall(callOf(claim, 2, { rolloutId: 'rollout-9' })),
          store.recordCall(callOf(claim, 3)),
        ]);
        expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
        expect(results[1]).toMatchObject({ reason: { code: 'attempt_not_found' } });
        expect(results[2]).toMatchObject({ reason: { code: 'invalid_value' } });
        expect(await store.listCalls(claim.attempt.id)).toEqual([callOf(claim, 0), callOf(claim, 3)]);
        await expect(store.listCalls('attempt-9')).rejects.toMatchObject({ code: 'attempt_not_found' });
      }),
    );

    it('rebuilds any tree of calls byte for byte, recorded one by one, together, and across a restart', async () => {
      await fc.assert(
        fc.asyncProperty(callTrees, fc.nat(8), async (tree, restartAt) => {
          await withStore(open, async (harness) => {
            const claim = await claimOne(harness.store);
            const calls = tree.map((partial, sequence) => callOf(claim, sequence, partial));
            await Promise.all(calls.slice(0, restartAt).map((call) => harness.store.recordCall(call)));
            await harness.reopen();
            for (const call of calls.slice(restartAt)) await harness.store.recordCall(call);
            const listed = await harness.store.listCalls(claim.attempt.id);
            expect(listed.map(callBytes)).toEqual(calls.map(callBytes));
          });
        }),
        { numRuns: 25 },
      );
    });
  });
}
