import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMemoryStore, openSqliteStore } from '../store/index.ts';
import { buryFormerWorkers } from './former-workers.ts';
import { countedReward } from './rewards.ts';

/** Set AGL_CONTROLLER_KILLS=100 for a long run, with five rollouts for each kill. */
const kills = Number(process.env.AGL_CONTROLLER_KILLS ?? 4);
const count = kills * 5;

let folder: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agl-controller-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const request = (index: number) => ({
  ...{ id: `r${index}`, runId: 'run', taskId: 'sum', groupId: 'g', mode: 'train' as const },
  ...{ step: 0, seed: index, maxAttempts: 1000 },
});

it(`killed ${kills} times: each rollout ends exactly once`, async () => {
  const path = join(folder, 'store.db');
  const store = await openSqliteStore({ path });
  await store.createRun({ id: 'run', config: {} });
  await store.putTasks([{ id: 'sum', input: { question: '40 + 2?' }, private: { answer: 42 } }]);
  await store.enqueueRollouts(Array.from({ length: count }, (_, index) => request(index)));
  await store.close();

  const script = fileURLToPath(new URL('./testing/controller-process.js', import.meta.url));
  for (let life = 0; life <= kills; life += 1) {
    child = spawn(process.execPath, [script, path, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    await Promise.race([once(child.stdout!, 'data'), ended]);
    if (life === kills) await ended;
    else if (child.exitCode === null) {
      const before = lines().length;
      // Somewhere in the middle of its attempts.
      for (
        let waited = 0;
        lines().length < before + 4 + (life % 5) && child.exitCode === null && waited < 2000;
        waited += 1
      ) {
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      child.kill('SIGKILL');
      await ended;
    }
  }

  const after = await openSqliteStore({ path });
  const rollouts = await after.listRollouts({ runId: 'run' });
  expect(rollouts.map(({ state }) => state)).toEqual(Array.from({ length: count }, () => 'succeeded'));
  let attempted = 0;
  for (const { id } of rollouts) {
    const attempts = await after.listAttempts(id);
    attempted += attempts.length;
    expect(attempts.filter(({ state }) => state === 'succeeded')).toHaveLength(1);
    expect(attempts.filter(({ state }) => state === 'running')).toHaveLength(0);
    for (const attempt of attempts) {
      const reward = countedReward(await after.listRewards(attempt.id));
      if (attempt.state === 'succeeded') expect(reward).toBe(1);
      else expect(attempt.failure).toMatchObject({ class: 'infrastructure', code: 'worker_left' });
    }
  }
  expect(attempted).toBeGreaterThan(count);
  // No attempt was begun twice.
  const starts = lines().filter((line) => line.startsWith('start '));
  expect(new Set(starts).size).toBe(starts.length);
  await after.close();
}, 1_200_000);

function lines(): string[] {
  const notes = join(folder, 'agents');
  return existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : [];
}

describe('buryFormerWorkers', () => {
  it('gives back what dead controllers of this machine held, and touches no other', async () => {
    const opened = await openMemoryStore();
    await opened.createRun({ id: 'run', config: {} });
    await opened.putTasks([{ id: 'sum', input: {}, private: {} }]);
    await opened.enqueueRollouts([0, 1, 2].map(request));
    const workers = [
      { id: 'dead', info: { host: hostname(), pid: 1_000_001 } },
      { id: 'alive', info: { host: hostname(), pid: 1_000_002 } },
      { id: 'elsewhere', info: { host: 'another-machine', pid: 1_000_001 } },
    ];
    for (const worker of workers) {
      await opened.registerWorker({ ...worker, leaseMs: 60_000 });
      await opened.claimRollouts({ workerId: worker.id, limit: 1, leaseMs: 60_000 });
    }
    const isAlive = (pid: number) => pid === 1_000_002;
    expect(await buryFormerWorkers({ store: opened, host: hostname(), isAlive })).toBe(1);
    const states = await Promise.all(workers.map(async ({ id }) => (await opened.getWorker(id))?.state));
    expect(states).toEqual(['gone', 'busy', 'busy']);
    const rollouts = await opened.listRollouts({ runId: 'run' });
    expect(rollouts.map(({ state }) => state)).toEqual(['queued', 'running', 'running']);
    await opened.close();
  });
});
