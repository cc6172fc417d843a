import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openPostgresStore } from '../store/postgres/index.ts';
import { storeUrl } from '../store/postgres/testing/index.ts';
import type { Store } from '../store/store.ts';
import { jsonLines, runAgl, startAgl } from './testing/run-agl.ts';
import { tinyProject } from './testing/tiny-project.ts';

const password = encodeURIComponent('p:w/@? %');

async function callIds(store: Store): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const { id } of await store.listRollouts({ includeSuperseded: true })) {
    for (const attempt of await store.listAttempts(id)) {
      for (const call of await store.listCalls(attempt.id)) ids.add(call.id);
    }
  }
  return ids;
}

it('trains in PostgreSQL, goes on after kill -9 with every acknowledged call, and tells the password to nobody', async () => {
  const url = storeUrl();
  const project = await tinyProject({ store: url }, { gateAfter: 28 });
  const first = startAgl(['train', project.folder, '--json', '--steps', '5', '--set', 'checkpoints.every=10']);
  await first.line(/"kind":"step","step":2/);
  const during = await runAgl(['status', '--store', url]);
  expect(during.stdout).toMatch(/running .*step/);
  first.child.kill('SIGKILL');
  const killed = await first.ended;
  project.openGate();

  const second = await runAgl(['resume', '--store', url, '--json']);
  expect(second.stderr).toBe('');
  expect(second.code).toBe(0);
  const steps = jsonLines(second.stdout).filter(({ kind }) => kind === 'step');
  expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]);

  const store = await openPostgresStore({ url });
  const run = (await store.listRuns()).find(({ config }) => !('preflightOf' in config))!;
  expect(run.state).toBe('finished');
  expect(run.config.store).toBe(url.replace(`:${password}@`, '@'));
  for (let step = 1; step <= 5; step++) {
    const counted = await store.listRollouts({ runId: run.id, step, mode: 'train' });
    expect(counted.map(({ state }) => state)).toEqual(Array(8).fill('succeeded'));
  }
  const recorded = await callIds(store);
  const acknowledged = readFileSync(project.file('acknowledged'), 'utf8').trim().split('\n');
  expect(acknowledged.length).toBeGreaterThan(5 * 8);
  expect(acknowledged.filter((id) => ![...recorded].some((call) => id.includes(call)))).toEqual([]);
  await store.close();

  const status = await runAgl(['status', '--store', url]);
  expect(status.stderr).toBe('');
  expect(status.stdout).toMatch(/finished/);
  for (const { stdout, stderr } of [during, killed, second, status]) {
    expect(stdout + stderr).not.toContain(password);
    expect(stdout + stderr).not.toContain(decodeURIComponent(password));
  }
});
