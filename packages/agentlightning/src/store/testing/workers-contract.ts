import { describe, expect, it } from 'vitest';
import { callOf, claimNext, claimOne, enqueue, leaseOf, wrongExit } from './fixtures.ts';
import { type OpenHarness, storeTest } from './harness.ts';
import { spanOf } from './spans-contract.ts';

export function describeWorkers(open: OpenHarness): void {
  describe('workers', () => {
    it(
      'are idle, busy while they hold a lease, lost without a sign of life, and back at the next one',
      storeTest(open, async ({ store, clock }) => {
        const info = { host: 'here' };
        expect(await store.registerWorker({ id: 'worker-1', info, leaseMs: 100 })).toEqual({
          id: 'worker-1',
          info,
          state: 'idle',
          running: 0,
          aliveUntil: clock.now + 100,
          heartbeatAt: clock.now,
          registeredAt: clock.now,
        });
        const { attempt } = await claimOne(store);
        expect(await store.getWorker('worker-1')).toMatchObject({ state: 'busy', running: 1, info });
        clock.now += 1000;
        await store.expireLeases();
        expect(await store.getWorker('worker-1')).toMatchObject({ state: 'lost', running: 0 });
        expect(await store.heartbeat(leaseOf(attempt), 1000)).toBe(false);
        expect(await store.heartbeatWorker('worker-1', 100)).toMatchObject({ state: 'idle' });
        const again = await claimNext(store);
        clock.now += 500;
        expect(await store.heartbeat(leaseOf(again.attempt), 1000)).toBe(true);
        expect(await store.getWorker('worker-1')).toMatchObject({ state: 'busy', aliveUntil: clock.now + 1000 });
        await store.finishAttempt(leaseOf(again.attempt), { state: 'succeeded' });
        expect(await store.getWorker('worker-1')).toMatchObject({ state: 'idle' });
        await expect(store.heartbeatWorker('nobody', 1)).rejects.toMatchObject({ code: 'worker_not_found' });
        expect(await store.getWorker('nobody')).toBeNull();
      }),
    );

    it(
      'give their attempts back when they leave, and must register to come again',
      storeTest(open, async ({ store }) => {
        const { attempt } = await claimOne(store);
        const waiting = store.claimRollouts({ workerId: 'next', limit: 1, leaseMs: 1000, waitMs: 60_000 });
        expect(await store.leaveWorker('worker-1')).toMatchObject({ state: 'gone', running: 0 });
        expect(await store.getAttempt(attempt.id)).toMatchObject({ failure: { code: 'worker_left' } });
        expect(await waiting).toMatchObject([{ rollout: { id: 'rollout-1' }, attempt: { number: 2 } }]);
        await expect(store.leaveWorker('worker-1')).rejects.toMatchObject({ code: 'illegal_transition' });
        await expect(store.heartbeatWorker('worker-1', 1)).rejects.toMatchObject({ code: 'illegal_transition' });
        expect(await store.queryWorkers({ states: ['gone'] })).toMatchObject({ items: [{ id: 'worker-1' }] });
        const back = await store.registerWorker({ id: 'worker-1', info: { n: 2 }, leaseMs: 100 });
        expect(back).toMatchObject({ state: 'idle', info: { n: 2 } });
      }),
    );

    it(
      'may not touch what another one holds',
      storeTest(open, async ({ store }) => {
        const { attempt } = await claimOne(store);
        const foreign = { attemptId: attempt.id, workerId: 'thief' };
        await expect(store.heartbeat(foreign, 1000)).rejects.toMatchObject({ code: 'not_lease_holder' });
        const finish = store.finishAttempt(foreign, { state: 'succeeded' });
        await expect(finish).rejects.toMatchObject({ code: 'not_lease_holder' });
        expect(await store.getAttempt(attempt.id)).toEqual(attempt);
      }),
    );

    it(
      'that were fenced may still write: it is kept, marked, and not applied',
      storeTest(open, async ({ store, clock }) => {
        const { attempt, rollout, task } = await claimOne(store);
        const claim = { attempt, rollout, task };
        const reward = {
          attemptId: attempt.id,
          name: 'r',
          value: 1,
          source: 'agent',
          agentName: null,
          callId: null,
        } as const;
        await store.recordCall(callOf(claim, 0));
        await store.addReward(reward);
        clock.now += 1000;
        await store.expireLeases();
        await store.recordCall(callOf(claim, 1));
        await store.addReward(reward);
        await store.addSpans([{ span: spanOf(attempt.id, '1'), rewards: [] }]);
        const finish = { state: 'failed', failure: wrongExit, exitCode: 3 } as const;
        expect(await store.finishAttempt(leaseOf(attempt), finish)).toMatchObject({ state: 'queued' });
        expect(await store.listCalls(attempt.id)).toEqual([callOf(claim, 0), callOf(claim, 1, { late: true })]);
        expect((await store.listRewards(attempt.id)).map(({ late }) => late)).toEqual([undefined, true]);
        expect(await store.listSpans(attempt.id)).toMatchObject([{ late: true }]);
        const target = { kind: 'attempt', id: attempt.id } as const;
        expect((await store.queryAnnotations({ target })).items).toEqual([
          { target, key: 'late_finish', value: finish, author: 'worker-1', createdAt: clock.now },
        ]);
      }),
    );
  });

  describe('claiming with a wait', () => {
    it(
      'takes work as soon as it comes, from whatever side',
      storeTest(open, async ({ store }) => {
        const { attempt } = await claimOne(store);
        const wait = (workerId: string) =>
          store
            .claimRollouts({ workerId, limit: 1, leaseMs: 1000, waitMs: 60_000 })
            .then(([claim]) => claim?.rollout.id);
        const first = wait('a');
        await enqueue(store, ['b']);
        expect(await first).toBe('b');
        const second = wait('c');
        await store.finishAttempt(leaseOf(attempt), { state: 'failed', failure: wrongExit });
        await store.requeueRollouts(['rollout-1']);
        expect(await second).toBe('rollout-1');
      }),
    );

    it(
      'ends empty in time or at an abort, and with an error when the store is closed',
      storeTest(open, async ({ store }) => {
        const request = { workerId: 'w', limit: 1, leaseMs: 1000 };
        expect(await store.claimRollouts({ ...request, waitMs: 1 })).toEqual([]);
        const stop = new AbortController();
        const aborted = store.claimRollouts({ ...request, waitMs: 60_000, signal: stop.signal });
        stop.abort();
        expect(await aborted).toEqual([]);
        const closed = store.claimRollouts({ ...request, waitMs: 60_000 });
        await Promise.all([expect(closed).rejects.toMatchObject({ code: 'store_closed' }), store.close()]);
      }),
    );
  });

  describe('requeueing', () => {
    it(
      'gives an ended rollout one more attempt, also beyond its maximum',
      storeTest(open, async ({ store }) => {
        const { attempt } = await claimOne(store, { maxAttempts: 1 });
        await store.finishAttempt(leaseOf(attempt), { state: 'failed', failure: wrongExit });
        const [rollout] = await store.requeueRollouts(['rollout-1']);
        expect(rollout).toMatchObject({ state: 'queued', failure: null, endedAt: null, attempts: 1, maxAttempts: 2 });
        const again = await claimNext(store);
        expect(again.attempt.number).toBe(2);
        await expect(store.requeueRollouts(['rollout-1'])).rejects.toMatchObject({ code: 'illegal_transition' });
        await store.finishAttempt(leaseOf(again.attempt), { state: 'succeeded' });
        expect(await store.requeueRollouts(['rollout-1'])).toMatchObject([{ maxAttempts: 3 }]);
      }),
    );

    it(
      'is refused for rollouts that a resumed run replaced, and then for all of the list',
      storeTest(open, async ({ store }) => {
        await claimOne(store, { step: 3 });
        await enqueue(store, ['fine']);
        await store.cancelRollouts(['fine'], 'x');
        await store.supersedeAfter('run-1', 2);
        const refused = store.requeueRollouts(['fine', 'rollout-1']);
        await expect(refused).rejects.toMatchObject({ code: 'rollout_superseded' });
        expect(await store.getRollout('fine')).toMatchObject({ state: 'cancelled' });
      }),
    );
  });
}
