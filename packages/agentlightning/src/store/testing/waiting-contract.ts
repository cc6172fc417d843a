import { describe, expect, it, vi } from 'vitest';
import type { Rollout } from '../types.ts';
import { claimNext, claimOne, crash, enqueue, leaseOf } from './fixtures.ts';
import { type OpenHarness, storeTest } from './harness.ts';

export function describeWaiting(open: OpenHarness): void {
  describe('waiting', () => {
    it(
      'tells of each end as it comes and resolves in the order asked for',
      storeTest(open, async ({ store, inOrder }) => {
        const first = await claimOne(store);
        await enqueue(store, ['b', 'c']);
        await store.cancelRollouts(['c'], 'before anybody waits');
        const told: string[] = [];
        const onEnded = (rollout: Rollout): void => void told.push(`${rollout.id} ${rollout.state}`);
        const waiting = store.waitForRollouts(['b', 'c', 'rollout-1', 'b'], { onEnded });
        await store.finishAttempt(leaseOf(first.attempt), { state: 'succeeded' });
        if (!inOrder) await vi.waitUntil(() => told.length === 2);
        expect(inOrder ? told : told.toSorted()).toEqual(['c cancelled', 'rollout-1 succeeded']);
        await store.cancelRollouts(['b'], 'x');
        const rollouts = await waiting;
        expect(rollouts.map((rollout) => rollout.id)).toEqual(['b', 'c', 'rollout-1', 'b']);
        expect(rollouts[0]).toEqual(await store.getRollout('b'));
        expect(told).toHaveLength(3);
        expect(await store.waitForRollouts([])).toEqual([]);
      }),
    );

    it(
      'is not woken by an attempt whose rollout is tried again, and is by the end of its last lease',
      storeTest(open, async ({ store, clock }) => {
        const first = await claimOne(store, { maxAttempts: 2 });
        let ended = 0;
        const waiting = store.waitForRollouts(['rollout-1'], { onEnded: () => (ended += 1) });
        await store.finishAttempt(leaseOf(first.attempt), { state: 'failed', failure: crash });
        await claimNext(store);
        expect(ended).toBe(0);
        clock.now += 1000;
        await store.expireLeases();
        expect(await waiting).toMatchObject([{ state: 'failed', failure: { code: 'worker_lost' } }]);
        expect(ended).toBe(1);
      }),
    );

    it(
      'wakes those who wait for a superseded rollout, and shows it as such',
      storeTest(open, async ({ store }) => {
        await claimOne(store, { step: 1 });
        const waiting = store.waitForRollouts(['rollout-1']);
        await store.supersedeAfter('run-1', 0);
        expect(await waiting).toMatchObject([{ state: 'cancelled', superseded: true }]);
      }),
    );

    it(
      'stops on abort with its reason, on an unknown id, on a throwing listener, and when the store is closed',
      storeTest(open, async ({ store }) => {
        const { attempt } = await claimOne(store);
        const controller = new AbortController();
        const aborted = store.waitForRollouts(['rollout-1'], { signal: controller.signal });
        controller.abort(new Error('enough'));
        await expect(aborted).rejects.toThrow('enough');
        await expect(store.waitForRollouts(['rollout-1'], { signal: controller.signal })).rejects.toThrow('enough');
        await expect(store.waitForRollouts(['rollout-1', 'rollout-9'])).rejects.toMatchObject({
          code: 'rollout_not_found',
        });

        await enqueue(store, ['other']);
        const unclosed = store.waitForRollouts(['other']);
        const thrown = store.waitForRollouts(['rollout-1'], {
          onEnded: () => {
            throw new Error('listener');
          },
        });
        await Promise.all([
          expect(thrown).rejects.toThrow('listener'),
          store.finishAttempt(leaseOf(attempt), { state: 'succeeded' }),
        ]);
        await Promise.all([expect(unclosed).rejects.toMatchObject({ code: 'store_closed' }), store.close()]);
        await expect(store.listRuns()).rejects.toMatchObject({ code: 'store_closed' });
        await store.close();
      }),
    );
  });
}
