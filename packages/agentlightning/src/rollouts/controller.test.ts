import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type StartedGateway, startGateway } from '../server/testing/started-gateway.ts';
import { StoreError } from '../store/errors.ts';
import type { Rollout } from '../store/types.ts';
import { type ScriptedEngine, say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type Controller, type ControllerEvent, type ControllerOptions, createController } from './controller.ts';
import { createRewardSource } from './graders/graders.ts';
import type { GraderSpec } from './graders/spec.ts';
import { countedReward } from './rewards.ts';
import type { AgentSpec } from './runners/runner.ts';
import { createRunner } from './runners/runners.ts';
import { createWorkshop, isAlive } from './testing/workshop.ts';

const workshop = createWorkshop();
const closers: (() => Promise<void>)[] = [];
let gateway: StartedGateway;
let events: ControllerEvent[];
let enqueued = 0;

beforeEach(async () => {
  events = [];
  await open(scriptedEngine(() => say('The answer is 42.')));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => workshop.close());

async function open(engine: ScriptedEngine): Promise<void> {
  const opened = await startGateway(engine);
  closers.push(() => opened.close());
  gateway = opened;
  await gateway.store.putTasks([
    { id: 'sum', input: { question: '40 + 2?' }, private: { answer: 42, note: 's3cret' } },
  ]);
}

function control(
  agent: AgentSpec | string,
  { grader = 'numeric-match', ...change }: { grader?: GraderSpec } & Partial<ControllerOptions> = {},
): Controller {
  const command = { output: 'stdout-last-line', timeoutSeconds: 20, graceSeconds: 1, cwd: workshop.folder } as const;
  const controller = createController({
    store: gateway.store,
    sessions: gateway.sessions,
    baseUrl: gateway.server.url,
    model: 'policy',
    runner: createRunner(typeof agent === 'string' ? { ...command, command: agent } : agent),
    reward: createRewardSource(grader),
    workerId: `worker-${closers.length}`,
    concurrency: 4,
    backoff: { firstMs: 1, maxMs: 2 },
    onEvent: (event) => events.push(event),
    ...change,
  });
  closers.push(() => controller.stop());
  controller.start();
  return controller;
}

async function enqueue(count: number, maxAttempts = 1): Promise<string[]> {
  const requests = Array.from({ length: count }, () => {
    enqueued += 1;
    return {
      id: `r${enqueued}`,
      runId: 'run',
      taskId: 'sum',
      groupId: 'g',
      mode: 'train' as const,
      step: 0,
      seed: enqueued,
      maxAttempts,
    };
  });
  await gateway.store.enqueueRollouts(requests);
  return requests.map((request) => request.id);
}

/** Enqueues, lets the controller work, and returns what became of it. */
async function outcomes(_controller: Controller, count = 1, maxAttempts = 1) {
  const ids = await enqueue(count, maxAttempts);
  const rollouts = await gateway.store.waitForRollouts(ids);
  return Promise.all(rollouts.map(outcomeOf));
}

async function outcomeOf({ id, state, failure }: Rollout) {
  const attempts = await gateway.store.listAttempts(id);
  const last = attempts.at(-1);
  const rewards = last ? await gateway.store.listRewards(last.id) : [];
  return { state, failure, attempts: attempts.length, last, rewards, reward: countedReward(rewards) };
}

const fatal = () => events.find((event) => event.type === 'fatal')?.error;
const callingAgent = () =>
  workshop.write(`
    export default async (task) => {
      const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
        body: JSON.stringify({ model: process.env.AGL_MODEL, messages: [{ role: 'user', content: task.question }] }),
      });
      if (task.swallow || response.ok) return (await response.json()).choices?.[0].message.content ?? 'sorry';
      throw new Error('status ' + response.status);
    };`);

describe('an attempt', () => {
  it('calls the model as itself, is graded, and its token dies with it', async () => {
    const controller = control({ module: callingAgent(), export: 'default', timeoutSeconds: 20 });
    const [outcome] = await outcomes(controller);
    expect(outcome).toMatchObject({
      state: 'succeeded',
      last: { output: 'The answer is 42.', exitCode: 0 },
      rewards: [{ name: 'reward', value: 1, source: 'grader' }],
    });
    expect(await gateway.store.listCalls(outcome?.last?.id ?? '')).toMatchObject([{ sequence: 0, model: 'policy' }]);

    await controller.stop();
    const stolen = `${workshop.folder}/stolen`;
    await outcomes(control(`printf %s "$OPENAI_API_KEY" > ${stolen}`));
    const answer = await fetch(`${gateway.server.url}/v1/models`, {
      headers: { authorization: `Bearer ${readFileSync(stolen, 'utf8')}` },
    });
    expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining('attempt that has ended')]);
  });

  it('never has the private part of its task, in no variable and in no file', async () => {
    const look =
      'env; cat "$AGL_TASK_FILE"; cat "$(dirname "$AGL_TASK_FILE")"/*; tr "\\0" "\\n" < /proc/self/environ; echo "$AGL_TASK_FILE"';
    const [outcome] = await outcomes(control(`${look}; sync`, { grader: { rewardFrom: 'agent' } }));
    const ended = events.find((event) => event.type === 'attempt-ended');
    const seen = ended?.type === 'attempt-ended' ? ended.log : '';
    expect(seen).toContain('40 + 2?');
    expect(seen).not.toContain('s3cret');
    expect(outcome).toMatchObject({ state: 'succeeded', reward: null, rewards: [] });
    // Its folder goes with it.
    expect(existsSync(dirname(outcome?.last?.output ?? '/'))).toBe(false);
  });

  it('that fails by its own doing is graded all the same, and not tried again', async () => {
    const [outcome] = await outcomes(control('echo 7; exit 1'), 1, 3);
    expect(outcome).toMatchObject({
      state: 'failed',
      failure: { class: 'agent', code: 'exit_code' },
      attempts: 1,
      reward: 0,
      last: { output: '7', exitCode: 1 },
    });
  });

  it('is rewarded by its standard output when the configuration says so', async () => {
    const grader = { rewardFrom: 'stdout' } as const;
    const first = control('echo thinking; echo 0.5', { grader });
    const [half] = await outcomes(first);
    await first.stop();
    expect(half).toMatchObject({ rewards: [{ value: 0.5, source: 'stdout' }] });
    const [none] = await outcomes(control('echo done', { grader }));
    expect(none).toMatchObject({ state: 'succeeded', rewards: [], reward: null });
  });
});

describe('a failure that is not the agent’s', () => {
  it('is tried again, then given up, and leaves no reward', async () => {
    const grader = { command: 'echo "no db" >&2; exit 1', timeoutSeconds: 20 };
    const [outcome] = await outcomes(control('echo 42', { grader }), 1, 3);
    expect(outcome).toMatchObject({
      state: 'failed',
      failure: { class: 'infrastructure', code: 'grader_crash', message: 'The grader ended with exit code 1.' },
      attempts: 3,
      rewards: [],
    });
    expect(events.filter((event) => event.type === 'attempt-ended').map((event) => event.log)).toEqual(
      Array(3).fill('no db\n'),
    );
  });

  it('is forgotten when the next attempt succeeds', async () => {
    const grader = {
      command: 'if mkdir once 2>/dev/null; then exit 1; fi; echo 1',
      timeoutSeconds: 20,
      cwd: workshop.folder,
    };
    const [outcome] = await outcomes(control('echo 42', { grader }), 1, 3);
    expect(outcome).toMatchObject({ state: 'succeeded', failure: null, attempts: 2, reward: 1 });
  });

  it.each([
    ['crashes for it', { question: 'q' }],
    ['swallows the error', { question: 'q', swallow: true }],
  ])('is the model server’s when the agent %s', async (_, input) => {
    await open(
      scriptedEngine(() => {
        throw new Error('out of memory');
      }),
    );
    await gateway.store.putTasks([{ id: 'sum', input, private: { answer: 42 } }]);
    const [outcome] = await outcomes(control({ module: callingAgent(), export: 'default', timeoutSeconds: 20 }), 1, 2);
    expect(outcome).toMatchObject({
      failure: { class: 'infrastructure', code: 'gateway_error' },
      attempts: 2,
      rewards: [],
    });
  });

  it('is not a prompt that is too long', async () => {
    await open(scriptedEngine(() => say('42'), { maxTokens: 16 }));
    const [outcome] = await outcomes(control({ module: callingAgent(), export: 'default', timeoutSeconds: 20 }), 1, 2);
    expect(outcome).toMatchObject({ failure: { class: 'agent', code: 'context_overflow' }, attempts: 1, reward: 0 });
  });
});

describe('the controller', () => {
  it('works on many at a time, never on more than it may', async () => {
    const results = await outcomes(control('echo 42', { concurrency: 3 }), 9);
    expect(results.every((result) => result.reward === 1)).toBe(true);
    const changes = events.map((event) => (event.type === 'attempt-started' ? 1 : -1));
    const running = changes.map((_, index) => changes.slice(0, index + 1).reduce((sum, change) => sum + change, 0));
    expect(Math.max(...running)).toBe(3);
  });

  it('sleeps until it is told of new work', async () => {
    let looks = 0;
    const claimRollouts: ControllerOptions['store']['claimRollouts'] = (request) => {
      looks += 1;
      return gateway.store.claimRollouts(request);
    };
    const controller = control('echo 42', { store: { ...boundStore(), claimRollouts } });
    await expect.poll(() => looks).toBe(1);
    expect(await outcomes(controller, 1)).toMatchObject([{ reward: 1 }]);
    expect(looks).toBeLessThanOrEqual(3); // told, ended, and nothing between
  });

  it('takes over what a lost worker had', async () => {
    const ids = await enqueue(1, 2);
    await gateway.store.claimRollouts({ workerId: 'lost', limit: 1, leaseMs: 1 });
    control('echo 42', { leaseMs: 900 });
    const [rollout] = await gateway.store.waitForRollouts(ids);
    expect(rollout).toMatchObject({ state: 'succeeded', attempts: 2 });
  });

  it('ends an attempt whose rollout was cancelled', async () => {
    const pidFile = `${workshop.folder}/cancelled`;
    control(`echo $$ > ${pidFile}.part; mv ${pidFile}.part ${pidFile}; exec sleep 1000`, {
      leaseMs: 900,
    });
    const [id = ''] = await enqueue(1, 3);
    await expect.poll(() => existsSync(pidFile)).toBe(true);
    await gateway.store.cancelRollouts([id], 'superseded');
    await expect.poll(() => isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
    expect(await gateway.store.getRollout(id)).toMatchObject({ state: 'cancelled', attempts: 1 });
  });

  it('stops with everything that it started, and the work is queued again', async () => {
    const folder = workshop.folder;
    const module = workshop.write(`
      import { writeFileSync, renameSync } from 'node:fs';
      export default () => {
        const file = '${folder}/hung-' + process.env.AGL_ATTEMPT_ID;
        writeFileSync(file + '.part', String(process.pid)); renameSync(file + '.part', file);
        while (true);
      };`);
    const shell = control(`sleep 1000 & echo $! $$ > ${folder}/sh.part; mv ${folder}/sh.part ${folder}/sh; wait`, {
      concurrency: 1,
    });
    const [first = ''] = await enqueue(1, 2);
    await expect.poll(() => existsSync(`${folder}/sh`)).toBe(true);
    const warm = control({ module, export: 'default', timeoutSeconds: 1000 });
    const [second = ''] = await enqueue(1, 2);
    const attemptOf = async (id: string) => (await gateway.store.listAttempts(id))[0]?.id;
    await expect.poll(async () => existsSync(`${folder}/hung-${await attemptOf(second)}`)).toBe(true);
    const hung = readFileSync(`${folder}/hung-${await attemptOf(second)}`, 'utf8');
    const pids = [...readFileSync(`${folder}/sh`, 'utf8').trim().split(' '), hung].map(Number);
    expect(pids.map(isAlive)).toEqual([true, true, true]);

    await Promise.all([shell.stop(), warm.stop()]);
    expect(pids.map(isAlive)).toEqual([false, false, false]);
    for (const id of [first, second]) {
      expect(await gateway.store.getRollout(id)).toMatchObject({ state: 'queued' });
      expect(await gateway.store.listAttempts(id)).toMatchObject([
        { failure: { class: 'infrastructure', code: 'controller_stopped' } },
      ]);
    }
    control('echo 42');
    expect(await gateway.store.waitForRollouts([first, second])).toMatchObject([
      { state: 'succeeded' },
      { state: 'succeeded' },
    ]);
  });
});

describe('when nothing works', () => {
  it('it stops claiming and quotes the log', async () => {
    const controller = control('echo "cannot find module openai" >&2; exit 1', { concurrency: 1, breakerAttempts: 3 });
    const ids = await enqueue(5);
    await expect.poll(fatal).toMatchObject({
      code: 'all_attempts_fail',
      category: 'user',
      message:
        '3 attempts in a row failed in the same way (exit_code): The agent ended with exit code 1.\n' +
        'The end of the output:\n  | cannot find module openai',
    });
    await controller.stop();
    const states = await Promise.all(ids.map(async (id) => (await gateway.store.getRollout(id))?.state));
    expect(states).toEqual(['failed', 'failed', 'failed', 'queued', 'queued']);
  });

  it('a store that fails is fatal, and named', async () => {
    const full = new StoreError({ code: 'disk_full', message: 'No space left on the disk of store.db.' });
    const store = { ...boundStore(), finishAttempt: () => Promise.reject(full) };
    control('echo 42', { store });
    await enqueue(1);
    await expect.poll(fatal).toBe(full);
  });
});

/** The store's verbs as plain functions, to replace one of them. */
function boundStore(): ControllerOptions['store'] {
  const { store } = gateway;
  return {
    registerWorker: (worker) => store.registerWorker(worker),
    heartbeatWorker: (id, leaseMs) => store.heartbeatWorker(id, leaseMs),
    leaveWorker: (id) => store.leaveWorker(id),
    queryWorkers: (query) => store.queryWorkers(query),
    queryAttempts: (query) => store.queryAttempts(query),
    claimRollouts: (request) => store.claimRollouts(request),
    heartbeat: (id, leaseMs) => store.heartbeat(id, leaseMs),
    finishAttempt: (id, outcome) => store.finishAttempt(id, outcome),
    expireLeases: () => store.expireLeases(),
    getAttempt: (id) => store.getAttempt(id),
    getRollout: (id) => store.getRollout(id),
    getTask: (id) => store.getTask(id),
    listCalls: (id) => store.listCalls(id),
    addReward: (reward) => store.addReward(reward),
    annotate: (annotation) => store.annotate(annotation),
  };
}
