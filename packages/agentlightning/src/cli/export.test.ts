import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../store/index.ts';
import { callOf, enqueue, leaseOf, seed } from '../store/testing/index.ts';
import { runAgl } from './testing/run-agl.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agl-export-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('a store goes out and in again on the command line, also while it is in use', async () => {
  const [source, archive, target] = ['source.db', 'run.jsonl', 'target.db'].map((name) => join(folder, name));
  const store = await openSqliteStore({ path: source! });
  await seed(store);
  await enqueue(store, ['a', 'b']);
  const exported = await runAgl(['export', archive!, '--store', source!, '--json']);
  const trajectories = await runAgl(['export', join(folder, 'none'), '--store', source!, '--format', 'atif']);
  expect(trajectories).toMatchObject({ code: 0, stdout: expect.stringContaining('0 trajectories') as string });
  expect((await runAgl(['rollouts', '--store', source!])).stdout).toMatch(/^a +queued/m);
  expect((await runAgl(['status', '--store', source!])).stdout).toContain('run-1  interrupted');
  expect((await runAgl(['inspect', 'a', '--store', source!])).stdout).toContain('a  queued');
  expect((await runAgl(['inspect', '--store', source!])).stderr).toContain('[no_configuration]');
  const prune = await runAgl(['prune', '--store', source!, '--older-than-days', '0']);
  expect(prune).toMatchObject({ code: 1, stderr: expect.stringContaining('[store_in_use]') as string });
  await store.close();
  expect(JSON.parse(exported.stdout)).toEqual({ path: archive, written: { runs: 1, tasks: 1, rollouts: 2 } });
  expect((await runAgl(['import', archive!, '--store', target!])).stdout).toContain('2 rollouts');
  const again = await runAgl(['import', archive!, '--store', target!, '--json']);
  expect(JSON.parse(again.stdout)).toMatchObject({ counts: { rollouts: { added: 0, present: 2, kept: 0 } } });

  const taken = await runAgl(['export', archive!, '--store', source!]);
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('[archive_exists]') });
  const wrong = await runAgl(['export', join(folder, 'x'), '--format', 'csv']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('jsonl') });
}, 180_000);

it('writes trajectories, and prunes what is old', async () => {
  const [source, out] = ['source.db', 'trajectories'].map((name) => join(folder, name));
  const store = await openSqliteStore({ path: source! });
  await seed(store);
  await enqueue(store, ['a', 'b']);
  const [claim] = await store.claimRollouts({ workerId: 'w', limit: 2, leaseMs: 1000 });
  const { attempt } = claim!;
  for (const sequence of [0, 1]) await store.recordCall(callOf(claim!, sequence));
  await store.finishAttempt(leaseOf(attempt), { state: 'succeeded' });
  await store.finishRun('run-1', 'finished');
  await store.close();

  const exported = await runAgl(['export', out!, '--store', source!, '--format', 'atif', '--json']);
  expect(JSON.parse(exported.stdout)).toMatchObject({
    written: { trajectories: 1 },
    leftOut: { 'attempts without calls': 1 },
  });
  expect(readdirSync(out!)).toEqual([`${attempt.id}-1.json`]);
  const trajectory = JSON.parse(readFileSync(join(out!, `${attempt.id}-1.json`), 'utf8')) as { steps: unknown[] };
  expect(trajectory).toMatchObject({ session_id: attempt.id, extra: { task_id: 'task-1', state: 'succeeded' } });
  expect(trajectory.steps).toHaveLength(4);
  const imported = await runAgl(['import', out!, '--store', join(folder, 'target.db')]);
  expect(imported.stdout).toContain('2 calls');

  const prune = ['prune', '--store', source!, '--older-than-days', '0', '--keep-runs', '0'];
  expect((await runAgl([...prune, '--dry-run'])).stdout).toBe('run-1\n');
  expect((await runAgl(prune)).stdout).toBe('removed 2 calls of 1 runs\n');
}, 180_000);
