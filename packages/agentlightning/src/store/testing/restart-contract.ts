import { describe, expect, it } from 'vitest';
import type { Store } from '../store.ts';
import { callOf, claimNext, claimOne, enqueue, leaseOf, wrongExit } from './fixtures.ts';
import { type OpenHarness, storeTest } from './harness.ts';

export function describeRestart(open: OpenHarness): void {
  describe('restart', () => {
    it(
      'keeps everything, and goes on where it was',
      storeTest(open, async ({ store, reopen }) => {
        const first = await claimOne(store);
        await store.recordCall(callOf(first, 0));
        await store.recordCall(callOf(first, 1));
        const reward = { attemptId: first.attempt.id, name: 'correct', value: 1, source: 'grader' } as const;
        await store.addReward({ ...reward, agentName: null, callId: null });
        await store.finishAttempt(leaseOf(first.attempt), {
          state: 'failed',
          failure: wrongExit,
          output: '2',
          exitCode: 3,
        });
        await enqueue(store, ['running', 'queued'], { step: 1, mode: 'validation' });
        const running = await claimNext(store);
        await store.recordCall(callOf(running, 0));
        await store.saveCheckpoint({ runId: 'run-1', policy: 'p', step: 1, path: '/c', policyVersion: 1, state: {} });
        await store.addPolicyVersion({ runId: 'run-1', policy: 'p', step: 2, path: null, version: 2 });
        await store.createRun({ id: 'run-2', config: {} });
        await store.finishRun('run-2', 'finished');
        const attempts = [first.attempt.id, running.attempt.id];
        const before = await everything(store, attempts);

        const again = await reopen();
        expect(await everything(again, attempts)).toEqual(before);
        await again.recordCall(callOf(running, 1));
        expect(await again.listCalls(running.attempt.id)).toEqual([callOf(running, 0), callOf(running, 1)]);
        expect(await again.finishAttempt(leaseOf(running.attempt), { state: 'succeeded' })).toMatchObject({
          state: 'succeeded',
        });
        expect((await claimNext(again)).rollout.id).toBe('queued');
      }),
    );
  });
}

async function everything(store: Store, attempts: string[]) {
  return {
    runs: await store.listRuns(),
    task: await store.getTask('task-1'),
    rollouts: await store.listRollouts({ includeSuperseded: true }),
    attempts: await Promise.all(attempts.map((id) => store.getAttempt(id))),
    calls: await Promise.all(attempts.map((id) => store.listCalls(id))),
    rewards: await Promise.all(attempts.map((id) => store.listRewards(id))),
    version: await store.latestPolicyVersion('p'),
    checkpoint: await store.latestCheckpoint('run-1'),
  };
}
