import { describe, expect, it } from 'vitest';
import { IllegalTransitionError } from '../errors.ts';
import { claimNext, claimOne, crash, enqueue, leaseOf, wrongExit } from './fixtures.ts';
import { type OpenHarness, storeTest } from './harness.ts';

export function describeEndings(open: OpenHarness): void {
  describe('end of an attempt', () => {
    it(
      'ends the rollout on success and keeps what the agent handed in',
      storeTest(open, async ({ store, clock }) => {
        const { attempt } = await claimOne(store);
        clock.now += 10;
        const output = 'line\0with \ud800 odd characters';
        const rollout = await store.finishAttempt(leaseOf(attempt), { state: 'succeeded', output, exitCode: 0 });
        expect(rollout).toMatchObject({ state: 'succeeded', failure: null, attempts: 1, endedAt: clock.now });
        expect(await store.getRollout('rollout-1')).toEqual(rollout);
        expect(await store.getAttempt(attempt.id)).toEqual({
          ...attempt,
          state: 'succeeded',
          output,
          exitCode: 0,
          endedAt: clock.now,
        });
      }),
    );

    it(
      'ends the rollout on a failure of the agent, however many attempts are left',
      storeTest(open, async ({ store }) => {
        const { attempt } = await claimOne(store, { maxAttempts: 5 });
        const rollout = await store.finishAttempt(leaseOf(attempt), {
          state: 'failed',
          failure: wrongExit,
          exitCode: 3,
        });
        expect(rollout).toMatchObject({ state: 'failed', failure: wrongExit });
        expect(await store.getAttempt(attempt.id)).toMatchObject({ failure: wrongExit, exitCode: 3 });
      }),
    );

    it(
      'tries again after a failure of the infrastructure until the attempts are used up',
      storeTest(open, async ({ store }) => {
        const first = await claimOne(store, { maxAttempts: 2 });
        const retried = await store.finishAttempt(leaseOf(first.attempt), { state: 'failed', failure: crash });
        expect(retried).toMatchObject({ state: 'queued', failure: null, endedAt: null });
        const second = await claimNext(store);
        const ended = await store.finishAttempt(leaseOf(second.attempt), { state: 'failed', failure: crash });
        expect(ended).toMatchObject({ state: 'failed', failure: crash, attempts: 2 });
      }),
    );

    it(
      'takes the same report twice, and throws on a different one',
      storeTest(open, async ({ store }) => {
        const { attempt } = await claimOne(store);
        const ended = await store.finishAttempt(leaseOf(attempt), { state: 'succeeded', output: 'a' });
        expect(await store.finishAttempt(leaseOf(attempt), { state: 'succeeded', output: 'b' })).toEqual(ended);
        expect(await store.getAttempt(attempt.id)).toMatchObject({ output: 'a' });
        const illegal = store.finishAttempt(leaseOf(attempt), { state: 'failed', failure: wrongExit });
        await expect(illegal).rejects.toBeInstanceOf(IllegalTransitionError);
        await expect(illegal).rejects.toThrow(`"${attempt.id}" is "succeeded", and "fail" is no step from there`);
      }),
    );

    it(
      'refuses a failed attempt without a failure',
      storeTest(open, async ({ store }) => {
        const { attempt } = await claimOne(store);
        const refused = store.finishAttempt(leaseOf(attempt), { state: 'failed' });
        await expect(refused).rejects.toMatchObject({ code: 'invalid_value' });
        expect(await store.getAttempt(attempt.id)).toMatchObject({ state: 'running' });
      }),
    );
  });

  describe('cancelling', () => {
    it(
      'cancels queued and running rollouts, fences their attempts, and leaves ended ones',
      storeTest(open, async ({ store }) => {
        const done = await claimOne(store);
        await store.finishAttempt(leaseOf(done.attempt), { state: 'succeeded' });
        await enqueue(store, ['running', 'queued']);
        const { attempt } = await claimNext(store);
        await store.cancelRollouts(['queued', 'running', 'rollout-1', 'queued'], 'not needed any more');
        const failure = { class: 'infrastructure', code: 'cancelled', message: 'not needed any more' };
        expect(await store.getRollout('rollout-1')).toMatchObject({ state: 'succeeded', failure: null });
        for (const id of ['queued', 'running']) {
          expect(await store.getRollout(id)).toMatchObject({ state: 'cancelled', failure });
        }
        expect(await store.getAttempt(attempt.id)).toMatchObject({ state: 'cancelled', failure });
        expect(await store.heartbeat(leaseOf(attempt), 1000)).toBe(false);
        expect(await store.finishAttempt(leaseOf(attempt), { state: 'succeeded' })).toMatchObject({
          state: 'cancelled',
        });
        expect(await store.claimRollouts({ workerId: 'w', limit: 9, leaseMs: 1000 })).toEqual([]);
      }),
    );

    it(
      'cancels none of a list with an unknown id',
      storeTest(open, async ({ store }) => {
        await claimOne(store);
        const refused = store.cancelRollouts(['rollout-1', 'rollout-9'], 'x');
        await expect(refused).rejects.toMatchObject({ code: 'rollout_not_found' });
        expect(await store.getRollout('rollout-1')).toMatchObject({ state: 'running' });
      }),
    );

    it(
      'marks the rollouts after a step as superseded, once, and cancels those that had not ended',
      storeTest(open, async ({ store }) => {
        const done = await claimOne(store, { step: 3 });
        await store.finishAttempt(leaseOf(done.attempt), { state: 'succeeded' });
        await enqueue(store, ['open'], { step: 4 });
        await enqueue(store, ['kept'], { step: 2 });
        const { attempt } = await claimNext(store);
        expect(await store.supersedeAfter('run-1', 2)).toBe(2);
        expect(await store.supersedeAfter('run-1', 2)).toBe(0);
        expect(await store.getRollout('rollout-1')).toMatchObject({ state: 'succeeded', superseded: true });
        expect(await store.getRollout('open')).toMatchObject({ state: 'cancelled', superseded: true });
        expect(await store.getRollout('kept')).toMatchObject({ state: 'queued', superseded: false });
        expect(await store.heartbeat(leaseOf(attempt), 1000)).toBe(false);
        await expect(store.supersedeAfter('run-9', 0)).rejects.toMatchObject({ code: 'run_not_found' });
      }),
    );
  });
}
