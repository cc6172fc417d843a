import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { StartedGateway } from '../../../server/testing/started-gateway.ts';
import { countedReward } from '../../rewards.ts';
import { createNamespace, podsOf, startTestGateway, startTestPlane, until } from './testing/cluster.ts';
import type { ControlPlane } from './testing/control-plane.ts';
import { type Gate, startGate } from './testing/gate.ts';
import { type Kubelet, startKubelet } from './testing/kubelet.ts';

const adminKey = 'a-key-for-the-controllers-of-this-test';
let plane: ControlPlane;
let node: Kubelet;
let gateway: StartedGateway;
let gate: Gate;

beforeAll(async () => {
  plane = await startTestPlane();
  node = await startKubelet(plane, 'node-1');
  gate = await startGate();
});
afterAll(async () => {
  await node?.close();
  gate?.dispose();
  await plane?.dispose();
});

let namespace = '';
let count = 0;
let children: ChildProcess[] = [];
beforeEach(async () => {
  count += 1;
  namespace = `restarts-${count}`;
  gateway = await startTestGateway({ api: true, adminKey });
  gate.close();
  await createNamespace(plane, namespace);
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  await gateway.close();
});

/** Its agents say that they are there, wait, call the model, and answer. */
const command = `curl -s GATE; curl -sf $OPENAI_BASE_URL/chat/completions -H "authorization: Bearer $OPENAI_API_KEY" -H 'content-type: application/json' -d '{"model":"policy","messages":[{"role":"user","content":"q"}]}' && echo && echo 42`;

/** @param concurrency when it is full, it does not wait at the server for more, in whose name it would get some after its death */
async function startController(worker: string, concurrency = 8): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./testing/controller-process.js', import.meta.url));
  const child = spawn(process.execPath, [script, worker, String(concurrency)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      AGL_TEST_SERVER: gateway.server.url,
      AGL_TEST_KEY: adminKey,
      AGL_TEST_KUBECONFIG: plane.kubeconfig,
      AGL_TEST_NAMESPACE: namespace,
      AGL_TEST_COMMAND: command.replace('GATE', gate.url),
    },
  });
  children.push(child);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function enqueue(number: number, maxAttempts: number): Promise<string[]> {
  const place = { runId: 'run', taskId: 'sum', groupId: 'g', mode: 'train', step: 0, maxAttempts } as const;
  const requests = Array.from({ length: number }, (_, index) => ({
    id: `${namespace}-${index}`,
    seed: index,
    ...place,
  }));
  await gateway.store.enqueueRollouts(requests);
  return requests.map(({ id }) => id);
}

async function allWaiting(number: number): Promise<void> {
  await until(async () => (gate.waiting() === number ? true : undefined));
}

it('a controller that is killed finds its Jobs again: no attempt is lost, none is begun twice', async () => {
  const ids = await enqueue(5, 3);
  const first = await startController('worker');
  await allWaiting(5);
  const pods = (await podsOf(plane, namespace)).map(({ metadata }) => metadata.name).sort();
  await kill(first);
  await startController('worker');
  gate.open();
  const rollouts = await gateway.store.waitForRollouts(ids);
  expect(rollouts.map(({ state }) => state)).toEqual(ids.map(() => 'succeeded'));
  for (const id of ids) {
    const attempts = await gateway.store.listAttempts(id);
    expect(attempts).toHaveLength(1);
    const [{ id: attempt } = { id: '' }] = attempts;
    expect(countedReward(await gateway.store.listRewards(attempt))).toBe(1);
    expect(await gateway.store.listCalls(attempt)).toHaveLength(1);
  }
  expect(pods).toHaveLength(5);
  await until(async () => ((await podsOf(plane, namespace)).length === 0 ? true : undefined));
});

it('agents that ended while no controller was there are judged by what they left', async () => {
  const ids = await enqueue(3, 1);
  const first = await startController('worker');
  await allWaiting(3);
  await kill(first);
  gate.open();
  await until(async () => {
    const phases = (await podsOf(plane, namespace)).map(({ status }) => status?.phase);
    return phases.every((phase) => phase === 'Succeeded') ? true : undefined;
  });
  await startController('worker');
  const rollouts = await gateway.store.waitForRollouts(ids);
  expect(rollouts.map(({ state }) => state)).toEqual(ids.map(() => 'succeeded'));
});

it('a controller of another name does not take them; it ends what is nobody’s any more, and tries again', async () => {
  const ids = await enqueue(2, 2);
  const first = await startController('one', 2);
  await allWaiting(2);
  const former = new Set((await podsOf(plane, namespace)).map(({ metadata }) => metadata.name));
  await kill(first);
  await gateway.store.leaveWorker('one'); // what the end of its leases leads to
  await startController('another');
  await until(async () => {
    const names = (await podsOf(plane, namespace)).map(({ metadata }) => metadata.name);
    return names.length === 2 && names.every((name) => !former.has(name)) ? true : undefined;
  });
  gate.open();
  const rollouts = await gateway.store.waitForRollouts(ids);
  expect(rollouts.map(({ state }) => state)).toEqual(ids.map(() => 'succeeded'));
  for (const id of ids) {
    const attempts = await gateway.store.listAttempts(id);
    expect(attempts.map(({ state }) => state)).toEqual(['failed', 'succeeded']);
  }
});

it('an agent whose gateway has forgotten it is ended, and the attempt counts as lost', async () => {
  const ids = await enqueue(1, 1);
  const first = await startController('worker');
  await allWaiting(1);
  await kill(first);
  await gateway.sessions.closeAll(); // as a gateway that was started again
  await startController('worker');
  await gateway.store.waitForRollouts(ids);
  const [attempt] = await gateway.store.listAttempts(ids[0] ?? '');
  expect(attempt?.failure).toMatchObject({ class: 'infrastructure', code: 'worker_lost' });
  await until(async () => ((await podsOf(plane, namespace)).length === 0 ? true : undefined));
});

it('killed again and again: each rollout ends exactly once', async () => {
  const ids = await enqueue(20, 50);
  gate.open();
  const ended = async () => {
    const rollouts = await gateway.store.listRollouts({ runId: 'run' });
    return rollouts.filter(({ state }) => state === 'succeeded').length;
  };
  for (let life = 0; life < 5; life += 1) {
    const child = await startController('worker');
    const before = await ended();
    // At least one more has ended, others are anywhere between claim and release.
    await until(async () => ((await ended()) > Math.min(before, ids.length - 1) ? true : undefined));
    await kill(child);
  }
  await startController('worker');
  const rollouts = await gateway.store.waitForRollouts(ids);
  expect(rollouts.map(({ state }) => state)).toEqual(ids.map(() => 'succeeded'));
  for (const id of ids) {
    const attempts = await gateway.store.listAttempts(id);
    expect(attempts.filter(({ state }) => state === 'succeeded')).toHaveLength(1);
    for (const { state, failure } of attempts) {
      if (state !== 'succeeded') expect(failure?.class).toBe('infrastructure');
    }
  }
  await until(async () => ((await podsOf(plane, namespace)).length === 0 ? true : undefined));
});
