import { expect, it } from 'vitest';
import { openMemoryStore } from '../../store/index.ts';
import { callOf, spanOf } from '../../tracing/span.test.support.ts';
import { enqueueCounted, waitForEpisodes } from './rollouts.ts';

it('reads back calls with the agent names that their spans tell', async () => {
  const store = await openMemoryStore();
  await store.createRun({ id: 'run', config: {} });
  await store.putTasks([{ id: 'task', input: {}, private: {} }]);
  const request = {
    id: 'rollout',
    runId: 'run',
    taskId: 'task',
    groupId: 'group',
    mode: 'train' as const,
    step: 0,
    seed: 1,
    maxAttempts: 1,
  };
  await store.enqueueRollouts([request]);
  const [claim] = await store.claimRollouts({ workerId: 'worker', limit: 1, leaseMs: 60_000 });
  const attemptId = claim!.attempt.id;
  await store.recordCall(callOf('call', 1, 'x', { attemptId, sequence: 0 }));
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.response.id': 'chatcmpl-call',
    'gen_ai.agent.name': 'writer',
  };
  await store.addSpans([{ span: spanOf({ attemptId, attributes }), rewards: [] }]);
  await store.finishAttempt({ attemptId, workerId: 'worker' }, { state: 'succeeded' });

  const [episode] = await waitForEpisodes(
    { store, signal: new AbortController().signal },
    await enqueueCounted(store, [request]),
  );
  expect(episode?.attempts[0]?.calls).toMatchObject([{ id: 'call', agentName: 'writer' }]);
  await store.close();
});
