import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StartedGateway } from '../../../server/testing/started-gateway.ts';
import { createController } from '../../controller.ts';
import { createRewardSource } from '../../graders/graders.ts';
import { countedReward } from '../../rewards.ts';
import { createRunner } from '../runners.ts';
import { createNamespace, podsOf, startTestGateway, startTestPlane, until } from './testing/cluster.ts';
import type { ControlPlane } from './testing/control-plane.ts';
import { type Kubelet, startKubelet } from './testing/kubelet.ts';

const number = 500;
const concurrency = 50;
let plane: ControlPlane;
let node: Kubelet;
let gateway: StartedGateway;
beforeAll(async () => {
  plane = await startTestPlane();
  node = await startKubelet(plane, 'node-1');
  gateway = await startTestGateway();
});
afterAll(async () => {
  await node?.close();
  await gateway?.close();
  await plane?.dispose();
});

/** Every fifth fails, every seventh is wrong, by the number in its name. */
const command = `n=\${AGL_ROLLOUT_ID##*-}; [ $((n % 5)) = 0 ] && exit 1; [ $((n % 7)) = 0 ] && echo 41 || echo 42`;
const expected = (index: number) => (index % 5 === 0 ? 'agent exit_code 0' : `null ${index % 7 === 0 ? 0 : 1}`);

it(`${number} Jobs, ${concurrency} at a time: each ends in its class, and nothing stays`, async () => {
  await createNamespace(plane, 'many');
  let under = 0;
  let most = 0;
  const controller = createController({
    store: gateway.store,
    sessions: gateway.sessions,
    baseUrl: gateway.server.url,
    model: 'policy',
    runner: createRunner({
      kubernetes: {
        ...{ image: 'agent', command, namespace: 'many', kubeconfig: plane.kubeconfig },
        ...{ queueSeconds: 300, startSeconds: 300, stuckSeconds: 30 },
      },
      ...{ output: 'stdout-last-line', timeoutSeconds: 300, graceSeconds: 1 },
    }),
    reward: createRewardSource('numeric-match'),
    workerId: 'worker',
    concurrency,
    onEvent({ type }) {
      under += type === 'attempt-started' ? 1 : type === 'attempt-ended' ? -1 : 0;
      most = Math.max(most, under);
    },
  });
  controller.start();
  try {
    const place = { runId: 'run', taskId: 'sum', groupId: 'g', mode: 'train', step: 0, maxAttempts: 1 } as const;
    const requests = Array.from({ length: number }, (_, index) => ({ id: `many-${index}`, seed: index, ...place }));
    await gateway.store.enqueueRollouts(requests);
    await gateway.store.waitForRollouts(requests.map(({ id }) => id));
    const found = await Promise.all(
      requests.map(async ({ id }) => {
        const [attempt, ...more] = await gateway.store.listAttempts(id);
        const failure = attempt?.failure ? `${attempt.failure.class} ${attempt.failure.code}` : 'null';
        const reward = countedReward(await gateway.store.listRewards(attempt?.id ?? ''));
        return `${failure} ${reward}${more.length > 0 ? ' and more attempts' : ''}`;
      }),
    );
    expect(found).toEqual(requests.map((_, index) => expected(index)));
    expect(most).toBe(concurrency);
    await until(async () => ((await podsOf(plane, 'many')).length === 0 ? true : undefined));
  } finally {
    await controller.stop();
  }
}, 400_000);
