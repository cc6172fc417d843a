import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../store/index.ts';
import type { Store } from '../store/store.ts';
import { adoptable, sweepStrangers } from './lasting-agents.ts';
import { followAgent } from './resume-agent.ts';
import type { AgentExit, LastingAgents, Runner } from './runners/runner.ts';

const leaseMs = 60_000;
let store: Store;
beforeEach(async () => {
  store = await openMemoryStore();
  await store.createRun({ id: 'run', config: {} });
  await store.putTasks([{ id: 'sum', input: {}, private: {} }]);
});
afterEach(() => store.close());

async function claimed(workerId: string, id: string) {
  const place = { runId: 'run', taskId: 'sum', groupId: 'g', mode: 'train', step: 0, seed: 1, maxAttempts: 2 } as const;
  await store.enqueueRollouts([{ id, ...place }]);
  const [claim] = await store.claimRollouts({ workerId, limit: 1, leaseMs });
  if (claim === undefined) throw new Error('nothing to claim');
  return claim;
}

function runner(lasting: Partial<LastingAgents>): Runner {
  const nothing = { find: async () => null, release: async () => {}, strangers: async () => [] };
  return {
    name: 'test',
    run: () => Promise.reject(new Error('begins nothing')),
    lasting: { ...nothing, ...lasting },
    close: async () => {},
  };
}

describe('adoptable', () => {
  it('is what the worker of this name holds, with all that a new claim would have', async () => {
    const mine = await claimed('me', 'r1');
    await claimed('another', 'r2');
    const { rollout, attempt, task } = mine;
    const found = await adoptable({ store, runner: runner({}), workerId: 'me', leaseMs });
    expect(found).toMatchObject([{ rollout, task, attempt: { id: attempt.id, number: 1 } }]);
  });

  it('is nothing that was cancelled, and nothing at all where agents end with their controller', async () => {
    const { rollout } = await claimed('me', 'r1');
    const plain: Runner = { name: 'plain', run: runner({}).run, close: async () => {} };
    expect(await adoptable({ store, runner: plain, workerId: 'me', leaseMs })).toEqual([]);
    await store.cancelRollouts([rollout.id], 'no longer wanted');
    expect(await adoptable({ store, runner: runner({}), workerId: 'me', leaseMs })).toEqual([]);
  });
});

it('sweepStrangers ends agents of ended attempts, and none that runs or that the store does not know', async () => {
  const ended = await claimed('gone', 'r1');
  await store.leaveWorker('gone');
  const running = await claimed('other', 'r2');
  const released: string[] = [];
  const ids = [running.attempt.id, 'of another store', ended.attempt.id];
  const agents = runner({ strangers: async () => ids, release: async (id) => void released.push(id) });
  await sweepStrangers(store, agents);
  expect(released).toEqual([ended.attempt.id]);
});

describe('followAgent', () => {
  const well: AgentExit = {
    failure: null,
    output: 'key agl-token-of-it',
    exitCode: 0,
    lastLine: null,
    log: 'agl-token-of-it',
  };
  const closed: string[] = [];
  const sessions = { close: async (id: string) => void closed.push(id) };
  /** Nobody listens there: no clear no. */
  const baseUrl = 'http://127.0.0.1:1';
  const { signal } = new AbortController();

  it('follows what is found, hides its key, and ends its session', async () => {
    const claim = await claimed('me', 'r1');
    const agents = runner({ find: async () => ({ token: 'agl-token-of-it', follow: async () => well }) });
    const exit = await followAgent(claim, { sessions, runner: agents, baseUrl }, signal);
    expect(exit).toMatchObject({ failure: null, output: 'key [secret]', log: '[secret]' });
    expect(closed).toContain(claim.attempt.id);
  });

  it('tells the loss of what is not there', async () => {
    const claim = await claimed('me', 'r1');
    const exit = await followAgent(claim, { sessions, runner: runner({}), baseUrl }, signal);
    expect(exit.failure).toMatchObject({ class: 'infrastructure', code: 'worker_lost' });
    expect(closed).toContain(claim.attempt.id);
  });
});
