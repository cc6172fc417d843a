import { describe, expect, it } from 'vitest';
import type { Store } from '../store.ts';
import { callOf, enqueue, leaseOf, seed } from './fixtures.ts';
import { type OpenHarness, type StoreHarness, storeTest } from './harness.ts';

const day = 86_400_000;
const nobody = { agentName: null, callId: null };

/** A run with one finished attempt: two calls, a span, a reward for the attempt and one for a call, a note on each. */
async function finishedRun({ store, clock }: Pick<StoreHarness, 'store' | 'clock'>, runId: string): Promise<string> {
  if ((await store.getTask('task-1')) === null) await seed(store);
  await store.createRun({ id: runId, config: {} });
  await enqueue(store, [`${runId}-rollout`], { runId });
  const [claim] = await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 1000, runId });
  const attemptId = claim!.attempt.id;
  for (const sequence of [0, 1]) await store.recordCall(callOf(claim!, sequence));
  const callId = callOf(claim!, 1).id;
  await store.addSpans([{ span: spanOf(attemptId), rewards: [] }]);
  const reward = { attemptId, name: 'score', value: 1, source: 'grader' as const };
  await store.addReward({ ...reward, ...nobody });
  await store.addReward({ ...reward, ...nobody, callId });
  for (const [kind, id] of [
    ['call', callId],
    ['attempt', attemptId],
    ['rollout', `${runId}-rollout`],
  ] as const) {
    await store.annotate({ target: { kind, id }, key: 'note', value: 1, author: 'me' });
  }
  await store.finishAttempt(leaseOf(claim!.attempt), { state: 'succeeded' });
  await store.saveCheckpoint({ runId, step: 0, path: '/w', policy: 'p', policyVersion: 1, state: {} });
  await store.finishRun(runId, 'finished');
  clock.now += 1;
  return attemptId;
}

function spanOf(attemptId: string) {
  return {
    ...{ attemptId, traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: null, name: 'work' },
    ...{ kind: 'internal' as const, startedAt: 1, endedAt: 2, status: 'ok' as const, statusMessage: null },
    ...{ attributes: {}, events: [], links: [], resource: {}, scope: null },
  };
}

async function left(store: Store, runId: string): Promise<number[]> {
  const calls = await store.queryCalls({ runId });
  const spans = await store.querySpans({ runId });
  const rewards = await store.queryRewards({ runId });
  const rollouts = await store.queryRollouts({ runId });
  return [calls, spans, rewards, rollouts].map(({ items }) => items.length);
}

const nothing = {
  ...{ runs: 0, calls: 0, spans: 0, rollouts: 0, attempts: 0, rewards: 0, annotations: 0, rewardsWithoutCall: 0 },
};

export function describeRetention(open: OpenHarness): void {
  describe('pruning', () => {
    it(
      'takes calls and spans of old runs, counts them, and leaves their rewards and checkpoints',
      storeTest(open, async (harness) => {
        const { store, clock } = harness;
        const attemptId = await finishedRun(harness, 'old');
        clock.now += 3 * day;
        await finishedRun(harness, 'new');
        const rules = { olderThanMs: 2 * day, remove: 'calls' } as const;
        expect(await store.prune(rules)).toEqual({
          ...nothing,
          ...{ runs: 1, calls: 2, spans: 1, annotations: 1, rewardsWithoutCall: 1 },
        });
        expect(await left(store, 'old')).toEqual([0, 0, 2, 1]);
        expect(await left(store, 'new')).toEqual([2, 1, 2, 1]);
        expect(await store.listRewards(attemptId)).toMatchObject([{ value: 1 }, { value: 1, callId: null }]);
        expect(await store.latestCheckpoint('old')).toMatchObject({ path: '/w' });
        expect(await store.prune(rules)).toEqual(nothing);
      }),
    );

    it(
      'takes whole runs where that is asked for, and never their tasks or what is running',
      storeTest(open, async (harness) => {
        const { store, clock } = harness;
        await finishedRun(harness, 'old');
        await finishedRun(harness, 'older-than-none');
        clock.now += 10 * day;
        const report = await store.prune({ keepRuns: 1, remove: 'runs' });
        expect(report).toEqual({
          ...nothing,
          ...{
            runs: 1,
            calls: 2,
            spans: 1,
            rollouts: 1,
            attempts: 1,
            rewards: 2,
            annotations: 3,
            rewardsWithoutCall: 1,
          },
        });
        // The run that the task came with has not ended.
        expect((await store.listRuns()).map(({ id }) => id)).toEqual(['older-than-none', 'run-1']);
        expect(await store.getTask('task-1')).not.toBeNull();
        expect(await left(store, 'old')).toEqual([0, 0, 0, 0]);
        expect(await left(store, 'older-than-none')).toEqual([2, 1, 2, 1]);
      }),
    );

    it(
      'leaves calls of other attempts whole, and late calls of a pruned one find their way',
      storeTest(open, async (harness) => {
        const { store } = harness;
        const attemptId = await finishedRun(harness, 'old');
        await store.prune({ remove: 'calls' });
        const attempt = (await store.getAttempt(attemptId))!;
        const rollout = (await store.getRollout(attempt.rolloutId))!;
        const late = callOf({ attempt, rollout, task: { id: 'task-1', input: {}, private: {} } }, 5);
        await store.recordCall(late);
        expect(await store.listCalls(attemptId)).toEqual([late]);
      }),
    );
  });
}
