import { join } from 'node:path';
import { Routes, Sessions } from '../../packages/agentlightning/dist/gateway/index.js';
import {
  createController,
  createRewardSource,
  createRunner,
} from '../../packages/agentlightning/dist/rollouts/index.js';
import { createServer } from '../../packages/agentlightning/dist/server/index.js';
import { openSqliteStore } from '../../packages/agentlightning/dist/store/index.js';
import { createCannedUpstream } from '../../packages/agentlightning/dist/upstreams/index.js';

let stores = 0;

/** Everything that a rollout has in `agl train`: store on disk, server, own key, task file, grader, reward. */
export async function ours({ folder, count, concurrency, agent }) {
  stores += 1;
  const store = await openSqliteStore({ path: join(folder, `store-${stores}.db`) });
  const sessions = new Sessions();
  const upstream = createCannedUpstream({ name: 'policy', answers: ['42'] });
  const routes = new Routes([{ alias: 'policy', upstream }], 'policy');
  const fail = (error) => {
    throw error;
  };
  const server = await createServer({ store, sessions, routes, onFatal: fail });
  await store.createRun({ id: 'run', config: {} });
  await store.putTasks([{ id: 'sum', input: { question: '40 + 2?' }, private: { answer: 42 } }]);
  const shared = { timeoutSeconds: 60, graceSeconds: 1, output: 'stdout-last-line' };
  const controller = createController({
    ...{ store, sessions, baseUrl: server.url, model: 'policy', concurrency, workerId: 'bench' },
    runner: createRunner({ ...shared, ...agent }),
    reward: createRewardSource('numeric-match'),
    onEvent: (event) => {
      if (event.type === 'fatal') fail(event.error);
    },
  });
  const requests = Array.from({ length: count }, (_, index) => ({
    ...{ id: `r${index}`, runId: 'run', taskId: 'sum', groupId: 'g', mode: 'train', step: 0 },
    ...{ seed: index, maxAttempts: 1 },
  }));
  const began = performance.now();
  controller.start();
  await store.enqueueRollouts(requests);
  const rollouts = await store.waitForRollouts(requests.map(({ id }) => id));
  const ms = performance.now() - began;
  const bad = rollouts.find(({ state }) => state !== 'succeeded');
  if (bad !== undefined) throw new Error(`a rollout ${bad.state}: ${bad.failure?.message}`);
  await controller.stop();
  await server.close({ graceMs: 0 });
  await store.close();
  return { count, ms };
}
