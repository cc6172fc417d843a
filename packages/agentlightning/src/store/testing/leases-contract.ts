import { describe, expect, it } from 'vitest';
import { claimNext, claimOne, enqueue, leaseOf } from './fixtures.ts';
import { type OpenHarness, storeTest } from './harness.ts';

export function describeLeases(open: OpenHarness): void {
  describe('leases', () => {
    it(
      'extends a lease by heartbeat and ends it when none came',
      storeTest(open, async ({ store, clock }) => {
        const { attempt } = await claimOne(store);
        clock.now += 900;
        expect(await store.heartbeat(leaseOf(attempt), 1000)).toBe(true);
        clock.now += 999;
        expect(await store.expireLeases()).toBe(0);
        clock.now += 1;
        expect(await store.expireLeases()).toBe(1);
        expect(await store.heartbeat(leaseOf(attempt), 1000)).toBe(false);
        expect(await store.getAttempt(attempt.id)).toMatchObject({
          state: 'failed',
          failure: { class: 'infrastructure', code: 'worker_lost' },
          endedAt: clock.now,
        });
        expect(await store.getRollout('rollout-1')).toMatchObject({ state: 'queued', failure: null, endedAt: null });
      }),
    );

    it(
      'gives a lost rollout again before younger ones, and fails it when its attempts are used up',
      storeTest(open, async ({ store, clock }) => {
        const first = await claimOne(store, { maxAttempts: 2 });
        await enqueue(store, ['younger']);
        clock.now += 1000;
        await store.expireLeases();
        const second = await claimNext(store);
        expect(second).toMatchObject({ rollout: { id: 'rollout-1', attempts: 2 }, attempt: { number: 2 } });
        expect(second.attempt.id).not.toBe(first.attempt.id);
        clock.now += 1000;
        expect(await store.expireLeases()).toBe(1);
        expect(await store.getRollout('rollout-1')).toMatchObject({
          state: 'failed',
          failure: { code: 'worker_lost' },
          endedAt: clock.now,
        });
        const attempts = await store.listAttempts('rollout-1');
        expect(attempts.map(({ number, state }) => [number, state])).toEqual([
          [1, 'failed'],
          [2, 'failed'],
        ]);
      }),
    );

    it(
      'ignores what a fenced attempt reports after its lease ran out',
      storeTest(open, async ({ store, clock }) => {
        const late = await claimOne(store);
        clock.now += 1000;
        await store.expireLeases();
        const current = await claimNext(store);
        const before = await store.listAttempts('rollout-1');
        const rollout = await store.finishAttempt(leaseOf(late.attempt), {
          state: 'succeeded',
          output: '42',
          exitCode: 0,
        });
        expect(rollout).toEqual(current.rollout);
        expect(await store.listAttempts('rollout-1')).toEqual(before);
        expect(await store.finishAttempt(leaseOf(current.attempt), { state: 'succeeded' })).toMatchObject({
          state: 'succeeded',
        });
      }),
    );

    it(
      'refuses attempts it never gave out',
      storeTest(open, async ({ store }) => {
        const unknown = { code: 'attempt_not_found' };
        await expect(store.heartbeat({ attemptId: 'attempt-9', workerId: 'w' }, 1000)).rejects.toMatchObject(unknown);
        await expect(
          store.finishAttempt({ attemptId: 'attempt-9', workerId: 'w' }, { state: 'succeeded' }),
        ).rejects.toMatchObject(unknown);
        await expect(store.listAttempts('rollout-9')).rejects.toMatchObject({ code: 'rollout_not_found' });
        expect(await store.getAttempt('attempt-9')).toBeNull();
        expect(await store.getRollout('rollout-9')).toBeNull();
      }),
    );
  });
}
