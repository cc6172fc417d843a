import { describe, expect, it } from 'vitest';
import { callOf, claimOne, seed } from './fixtures.ts';
import { type OpenHarness, storeTest } from './harness.ts';

/** Runs, tasks, rewards, policy versions, checkpoints. */
export function describeRecords(open: OpenHarness): void {
  describe('runs and tasks', () => {
    it(
      'lists runs newest first and keeps how they ended',
      storeTest(open, async ({ store, clock }) => {
        await store.createRun({ id: 'b', config: { model: 'x', z: 1, a: [null] } });
        await store.createRun({ id: 'a', config: {} });
        clock.now += 5;
        await store.finishRun('b', 'failed');
        const runs = await store.listRuns();
        expect(runs.map((run) => run.id)).toEqual(['a', 'b']);
        expect(await store.getRun('b')).toEqual({
          id: 'b',
          config: { model: 'x', z: 1, a: [null] },
          state: 'failed',
          createdAt: clock.now - 5,
          endedAt: clock.now,
        });
        expect(await store.getRun('nobody')).toBeNull();
      }),
    );

    it(
      'refuses a second run of the same id and the end of an unknown one',
      storeTest(open, async ({ store }) => {
        await seed(store);
        await expect(store.createRun({ id: 'run-1', config: {} })).rejects.toMatchObject({ code: 'run_exists' });
        await expect(store.finishRun('run-9', 'finished')).rejects.toMatchObject({ code: 'run_not_found' });
      }),
    );

    it(
      'lets the last content of a task win, within one call too',
      storeTest(open, async ({ store }) => {
        const task = (answer: string) => ({ id: 't', input: { q: 'ü' }, private: { answer } });
        await store.putTasks([task('1'), task('2')]);
        expect(await store.getTask('t')).toEqual(task('2'));
        await store.putTasks([task('3')]);
        expect(await store.getTask('t')).toEqual(task('3'));
        expect(await store.getTask('u')).toBeNull();
      }),
    );
  });

  describe('rewards', () => {
    const reward = { name: 'correct', source: 'grader', agentName: null, callId: null } as const;

    it(
      'keeps null as null and 0 as 0, in order of arrival',
      storeTest(open, async ({ store }) => {
        const claim = await claimOne(store);
        const attemptId = claim.attempt.id;
        await store.recordCall(callOf(claim, 0));
        await store.addReward({ ...reward, attemptId, value: null });
        await store.addReward({ ...reward, attemptId, value: 0 });
        await store.addReward({ ...reward, attemptId, value: 0.1, agentName: 'solver', callId: callOf(claim, 0).id });
        const rewards = await store.listRewards(attemptId);
        expect(rewards.map(({ value }) => value)).toEqual([null, 0, 0.1]);
        expect(rewards[2]).toMatchObject({ agentName: 'solver', callId: callOf(claim, 0).id, source: 'grader' });
      }),
    );

    it(
      'refuses NaN and infinity, naming reward and attempt',
      storeTest(open, async ({ store }) => {
        const { attempt } = await claimOne(store);
        for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
          const refused = store.addReward({ ...reward, attemptId: attempt.id, value });
          await expect(refused).rejects.toThrow(`Reward "correct" (grader) of attempt "${attempt.id}" is ${value}`);
        }
        expect(await store.listRewards(attempt.id)).toEqual([]);
      }),
    );

    it(
      'refuses unknown attempts and calls',
      storeTest(open, async ({ store }) => {
        const { attempt } = await claimOne(store);
        const unknownAttempt = store.addReward({ ...reward, attemptId: 'attempt-9', value: 1 });
        await expect(unknownAttempt).rejects.toMatchObject({ code: 'attempt_not_found' });
        const unknownCall = store.addReward({ ...reward, attemptId: attempt.id, value: 1, callId: 'call-9' });
        await expect(unknownCall).rejects.toMatchObject({ code: 'call_not_found' });
        await expect(store.listRewards('attempt-9')).rejects.toMatchObject({ code: 'attempt_not_found' });
      }),
    );
  });

  describe('policy versions and checkpoints', () => {
    const version = (number: number, step = number) => ({
      policy: 'policy',
      version: number,
      runId: 'run-1',
      step,
      path: null,
    });
    const checkpoint = { runId: 'run-1', policy: 'policy', state: { order: [2, 1], best: 0.5 } };

    it(
      'takes the version announced last, also when a resumed run counts again from its checkpoint',
      storeTest(open, async ({ store }) => {
        await seed(store);
        expect(await store.latestPolicyVersion('policy')).toBeNull();
        for (const number of [1, 2, 3]) await store.addPolicyVersion(version(number));
        expect(await store.latestPolicyVersion('policy')).toMatchObject({ version: 3 });
        await store.addPolicyVersion(version(2));
        expect(await store.latestPolicyVersion('policy')).toMatchObject({ version: 2 });
        expect(await store.latestPolicyVersion('other')).toBeNull();
        const stranger = store.addPolicyVersion({ ...version(1), runId: 'run-9' });
        await expect(stranger).rejects.toMatchObject({ code: 'run_not_found' });
      }),
    );

    it(
      'writes a checkpoint with the path of its policy version',
      storeTest(open, async ({ store, clock }) => {
        await seed(store);
        expect(await store.latestCheckpoint('run-1')).toBeNull();
        await store.addPolicyVersion(version(4));
        await store.saveCheckpoint({ ...checkpoint, step: 4, path: '/old', policyVersion: 4 });
        await store.saveCheckpoint({ ...checkpoint, step: 4, path: '/new', policyVersion: 4 });
        expect(await store.latestPolicyVersion('policy')).toMatchObject({ version: 4, path: '/new' });
        await store.saveCheckpoint({ ...checkpoint, step: 10, path: '/ten', policyVersion: 9 });
        await store.saveCheckpoint({ ...checkpoint, step: 9, path: '/nine', policyVersion: 8 });
        expect(await store.latestCheckpoint('run-1')).toEqual({
          runId: 'run-1',
          step: 10,
          path: '/ten',
          policyVersion: 9,
          state: { order: [2, 1], best: 0.5 },
          createdAt: clock.now,
        });
        await store.addPolicyVersion(version(4));
        expect(await store.latestPolicyVersion('policy')).toMatchObject({ version: 4, path: '/new' });
      }),
    );

    it(
      'keeps neither when one of the two cannot be written',
      storeTest(open, async ({ store }) => {
        await seed(store);
        const halfGood = { ...checkpoint, step: 1, path: '/one', policyVersion: 1.5 };
        await expect(store.saveCheckpoint(halfGood)).rejects.toMatchObject({ code: 'invalid_value' });
        expect(await store.latestCheckpoint('run-1')).toBeNull();
        expect(await store.latestPolicyVersion('policy')).toBeNull();
      }),
    );
  });
}
