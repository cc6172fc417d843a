import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { StartedGateway } from '../../../server/testing/started-gateway.ts';
import type { Rollout } from '../../../store/types.ts';
import { type Controller, createController } from '../../controller.ts';
import { createRewardSource } from '../../graders/graders.ts';
import { countedReward } from '../../rewards.ts';
import type { KubernetesPlace } from '../runner.ts';
import { createRunner } from '../runners.ts';
import type { KubernetesApiError } from './client/api-error.ts';
import { listWatch } from './client/list-watch.ts';
import type { Metadata } from './objects.ts';
import { createNamespace, podsOf, startTestGateway, startTestPlane, until } from './testing/cluster.ts';
import type { ControlPlane } from './testing/control-plane.ts';
import { type Gate, startGate } from './testing/gate.ts';
import { type Kubelet, startKubelet } from './testing/kubelet.ts';

let plane: ControlPlane;
let node: Kubelet;
let gateway: StartedGateway;
let gate: Gate;

beforeAll(async () => {
  plane = await startTestPlane();
  node = await startKubelet(plane, 'node-1');
  gateway = await startTestGateway();
  gate = await startGate();
});
afterAll(async () => {
  await node?.close();
  await gateway?.close();
  gate?.dispose();
  await plane?.dispose();
});

let namespace = '';
let count = 0;
beforeEach(async () => {
  count += 1;
  gate.close();
  namespace = `faults-${count}`;
  await createNamespace(plane, namespace);
});

interface Scene {
  command?: string;
  place?: Partial<KubernetesPlace>;
  maxAttempts?: number;
  timeoutSeconds?: number;
  /** While the attempt is under way. */
  meanwhile?: (attempt: Attempt) => Promise<void>;
}

interface Attempt {
  /** Of the pod, as soon as its container runs. */
  running(): Promise<string>;
  controller: Controller;
}

interface Ended {
  rollout: Rollout;
  failure: string | null;
  message: string;
  attempts: number;
  reward: number | null;
  log: string;
}

async function play({
  command = 'true',
  place = {},
  maxAttempts = 1,
  timeoutSeconds = 120,
  meanwhile,
}: Scene): Promise<Ended> {
  const logs: string[] = [];
  const controller = createController({
    store: gateway.store,
    sessions: gateway.sessions,
    baseUrl: gateway.server.url,
    model: 'policy',
    runner: createRunner({
      kubernetes: {
        ...{ image: 'agent', command, namespace, kubeconfig: plane.kubeconfig },
        ...{ queueSeconds: 60, startSeconds: 60, stuckSeconds: 1, ...place },
      },
      ...{ output: 'stdout-last-line', timeoutSeconds, graceSeconds: 1, env: { SOME_KEY: 'a secret of the user' } },
    }),
    reward: createRewardSource('numeric-match'),
    workerId: namespace,
    concurrency: 1,
    backoff: { firstMs: 1, maxMs: 2 },
    onEvent: (event) => event.type === 'attempt-ended' && logs.push(event.log),
  });
  controller.start();
  try {
    const id = `rollout-${namespace}`;
    const request = { id, runId: 'run', taskId: 'sum', groupId: 'g', mode: 'train', step: 0, seed: 1 } as const;
    await gateway.store.enqueueRollouts([{ ...request, maxAttempts }]);
    await meanwhile?.({ running: runningPod, controller });
    const [rollout] = await gateway.store.waitForRollouts([id]);
    const attempts = await gateway.store.listAttempts(id);
    const last = attempts.at(-1);
    if (rollout === undefined || last === undefined) throw new Error('the rollout is gone');
    const failure = last.failure;
    await controller.stop();
    expect(await jobs()).toBe(0);
    return {
      rollout,
      failure: failure && `${failure.class} ${failure.code}`,
      message: failure?.message ?? '',
      attempts: attempts.length,
      reward: countedReward(await gateway.store.listRewards(last.id)),
      log: logs.join(''),
    };
  } finally {
    await controller.stop();
  }
}

async function runningPod(): Promise<string> {
  return until(async () => {
    const pods = await podsOf(plane, namespace);
    return pods.find(({ status }) => status?.containerStatuses?.[0]?.state?.running !== undefined)?.metadata.name;
  });
}

async function jobs(): Promise<number> {
  return (await plane.admin.json<{ items: unknown[] }>({ path: `/apis/batch/v1/namespaces/${namespace}/jobs` })).items
    .length;
}

const held = () => `curl -s ${gate.url}; echo 42`;
it('an agent that calls the model and answers is rewarded, and nothing of it stays', async () => {
  const agent = `curl -sf $OPENAI_BASE_URL/chat/completions -H "authorization: Bearer $OPENAI_API_KEY" -H 'content-type: application/json' -d '{"model":"'$AGL_MODEL'","messages":[{"role":"user","content":"q"}]}' && echo && cat $AGL_TASK_FILE && echo key $OPENAI_API_KEY $SOME_KEY >&2 && echo it is 42`;
  const ended = await play({ command: agent });
  expect(ended).toMatchObject({ failure: null, attempts: 1, reward: 1, rollout: { state: 'succeeded' } });
  expect(ended.log).toContain('{"question":"40 + 2?"}');
  expect(ended.log).toContain('key [secret] [secret]');
  const [attempt] = await gateway.store.listAttempts(ended.rollout.id);
  expect(await gateway.store.listCalls(attempt?.id ?? '')).toHaveLength(1);
  expect(attempt?.output).toBe('it is 42');
  await until(async () => ((await podsOf(plane, namespace)).length === 0 ? true : undefined));
  const { items } = await plane.admin.json<{ items: unknown[] }>({ path: `/api/v1/namespaces/${namespace}/secrets` });
  expect(items).toEqual([]);
});

it('exit 1 is the agent’s own failure, graded and not tried again', async () => {
  const ended = await play({ command: 'echo oh >&2; echo 42; exit 1', maxAttempts: 3 });
  expect(ended).toMatchObject({ failure: 'agent exit_code', attempts: 1, reward: 1 });
  expect(ended.log).toContain('oh');
});

it('an agent that runs too long is ended, with its children', async () => {
  const ended = await play({ command: 'echo begun; sleep 1000', timeoutSeconds: 2, maxAttempts: 2 });
  expect(ended).toMatchObject({ failure: 'agent run_timeout', attempts: 1 });
  expect(ended.log).toContain('begun');
});

it('an image that is not there is told within seconds, and masked after its retries', async () => {
  const ended = await play({ place: { image: 'missing.example/agent:1' }, maxAttempts: 2 });
  expect(ended).toMatchObject({ failure: 'infrastructure image_pull_failed', attempts: 2, reward: null });
  expect(ended.message).toContain('missing.example/agent:1');
});

it('a pod that no node can take is told within seconds', async () => {
  const template = await templateFile('nodeSelector: { there: is-none }');
  const ended = await play({ place: { template } });
  expect(ended).toMatchObject({ failure: 'infrastructure unschedulable', reward: null });
});

it('an evicted pod is infrastructure, and the next attempt succeeds', async () => {
  const ended = await play({
    command: held(),
    maxAttempts: 2,
    async meanwhile({ running }) {
      await node.evict(await running());
      gate.open();
    },
  });
  expect(ended).toMatchObject({ failure: null, attempts: 2, reward: 1 });
  const [first] = await gateway.store.listAttempts(ended.rollout.id);
  expect(first?.failure).toMatchObject({ class: 'infrastructure', code: 'pod_evicted' });
  expect(await gateway.store.listRewards(first?.id ?? '')).toEqual([]);
});

it('one that passes its memory has failed by itself', async () => {
  const ended = await play({ command: held(), meanwhile: async ({ running }) => node.outOfMemory(await running()) });
  expect(ended).toMatchObject({ failure: 'agent memory_limit', attempts: 1 });
});

it('a pod that somebody deletes is infrastructure', async () => {
  const ended = await play({
    command: held(),
    async meanwhile({ running }) {
      await plane.admin.json({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/pods/${await running()}` });
    },
  });
  expect(ended).toMatchObject({ failure: 'infrastructure pod_deleted', reward: null });
});

it('a node that falls silent is lost, and the next attempt runs on another', async () => {
  const pool = { pool: `pool-${count}` };
  const silent = await startKubelet(plane, `silent-${count}`, pool);
  let other: Kubelet | undefined;
  const ended = await play({
    command: held(),
    maxAttempts: 2,
    place: { template: await templateFile(`nodeSelector: { pool: pool-${count} }`) },
    async meanwhile({ running }) {
      await running();
      await silent.vanish();
      gate.open();
      other = await startKubelet(plane, `other-${count}`, pool);
    },
  });
  await other?.close();
  const [first] = await gateway.store.listAttempts(ended.rollout.id);
  expect(first?.failure).toMatchObject({ class: 'infrastructure', code: 'node_lost' });
  expect(ended).toMatchObject({ failure: null, attempts: 2, reward: 1 });
});

it('a full quota of Jobs is waited for', async () => {
  await quota({ 'count/jobs.batch': '0' });
  const ended = await play({
    command: 'echo 42',
    async meanwhile() {
      await until(async () =>
        (await gateway.store.listAttempts(`rollout-${namespace}`)).length > 0 ? true : undefined,
      );
      await quota({ 'count/jobs.batch': '5' });
    },
  });
  expect(ended).toMatchObject({ failure: null, attempts: 1, reward: 1 });
});

it('a quota of pods that stays full is told when the time in the queue is over', async () => {
  await quota({ pods: '0' });
  const ended = await play({ place: { queueSeconds: 3 } });
  expect(ended).toMatchObject({ failure: 'infrastructure queue_timeout', reward: null });
  expect(ended.message).toContain('exceeded quota');
});

it('a pod that a policy forbids is told within seconds', async () => {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await plane.admin.json({
    method: 'PATCH',
    path: `/api/v1/namespaces/${namespace}`,
    body: { metadata: { labels } },
  });
  const ended = await play({});
  expect(ended).toMatchObject({ failure: 'infrastructure cluster_refused', reward: null });
  expect(ended.message).toContain('PodSecurity');
});

it('a restart of the API server changes nothing', async () => {
  const ended = await play({
    command: held(),
    async meanwhile({ running }) {
      await running();
      await plane.killApiServer();
      gate.open(); // the agent ends while nobody can tell
      await plane.startApiServer();
    },
  });
  expect(ended).toMatchObject({ failure: null, attempts: 1, reward: 1 });
});

it('a watch whose version the API server does not have any more (410) begins again, and misses nothing', async () => {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const create = (name: string) =>
    plane.admin.json({ method: 'POST', path, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } } });
  const present = new Set<string | undefined>();
  const troubles: KubernetesApiError[] = [];
  const stopping = new AbortController();
  await create('before');
  const watching = listWatch<{ metadata: Metadata }>({
    ...{ api: plane.admin, path, query: {}, signal: stopping.signal },
    onTrouble: (error) => troubles.push(error),
    onChange: ({ metadata: { name } }, gone) => (gone ? present.delete(name) : present.add(name)),
  });
  await until(async () => (present.has('before') ? true : undefined));
  await createNamespace(plane, `${namespace}-else`); // the cluster goes on where this watch does not look
  await plane.killApiServer();
  await plane.startApiServer();
  await plane.admin.json({ method: 'DELETE', path: `${path}/before` });
  await create('after');
  await until(async () => (present.has('after') && !present.has('before') ? true : undefined));
  expect(troubles.some(({ isGone }) => isGone)).toBe(true);
  stopping.abort();
  await watching;
});

it('a deadline that passes while the API server is away does not blame an agent that had ended', async () => {
  const ended = await play({
    command: held(),
    timeoutSeconds: 4,
    async meanwhile({ running }) {
      await running();
      await plane.killApiServer();
      gate.open();
      await new Promise((resolve) => setTimeout(resolve, 5000)); // the deadline itself
      await plane.startApiServer();
    },
  });
  expect(ended).toMatchObject({ failure: null, attempts: 1, reward: 1 });
});

it('a stopped controller ends its Jobs and queues their rollouts again', async () => {
  const ended = await play({
    command: held(),
    maxAttempts: 2,
    async meanwhile({ running, controller }) {
      await running();
      await controller.stop();
      const id = `rollout-${namespace}`;
      expect((await gateway.store.getRollout(id))?.state).toBe('queued');
      await gateway.store.cancelRollouts([id], 'the test is over');
    },
  });
  expect(ended).toMatchObject({ failure: 'infrastructure controller_stopped', attempts: 1 });
});

async function quota(hard: Record<string, string>): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  const name = 'q';
  const there = await plane.admin.json<{ items: unknown[] }>({ path });
  if (there.items.length > 0) {
    await plane.admin.json({ method: 'PATCH', path: `${path}/${name}`, body: { spec: { hard } } });
    return;
  }
  const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard } };
  await plane.admin.json({ method: 'POST', path, body });
  await until(async () => {
    const { status } = await plane.admin.json<{ status?: { hard?: unknown } }>({ path: `${path}/${name}` });
    return status?.hard;
  });
}

async function templateFile(podField: string): Promise<string> {
  const path = `${plane.kubeconfig}-${namespace}.yaml`;
  await writeFile(
    path,
    `apiVersion: batch/v1
kind: Job
spec:
  template:
    spec:
      ${podField}
      containers: [{ name: agent, image: agent }]
`,
  );
  return path;
}
