import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openHttpStore } from '../store/http/index.ts';
import type { Store } from '../store/store.ts';
import { jsonLines, type RunningAgl, runAgl, startAgl } from './testing/run-agl.ts';
import { type TinyProject, tinyProject } from './testing/tiny-project.ts';

let project: TinyProject;
let server: RunningAgl;
let url: string;
let admin: Store;
beforeAll(async () => {
  project = await tinyProject();
  server = startAgl(['serve', project.file('model'), '--store', project.store, '--port', '0', '--json']);
  await server.line(/"store"/);
  url = jsonLines(server.output())[0]!.store as string;
  admin = openHttpStore({ url, key: readFileSync(project.file('.agl/admin-key'), 'utf8').trim() });
  await admin.createRun({ id: 'run', config: {} });
  await admin.putTasks([{ id: 'task', input: { question: 'say 1' }, private: { answer: '1' } }]);
});
afterAll(async () => {
  await admin.close();
  server.child.kill('SIGTERM');
  await server.ended;
});

const request = (id: string) => {
  const where = { runId: 'run', taskId: 'task', groupId: 'g', mode: 'train', step: 0 } as const;
  return { id, ...where, seed: 1, maxAttempts: 1 };
};

it('a controller in another process runs and judges agents for a served store, and its worker leaves', async () => {
  const { stdout: token } = await runAgl(['token', '--scope', 'controller', '--store', project.store]);
  const env = { AGL_STORE_KEY: token.trim() };
  const controller = startAgl(['controller', project.folder, '--store', url, '--concurrency', '2', '--json'], env);
  await controller.line(/"ready"/);
  await admin.enqueueRollouts(['a', 'b', 'c'].map(request));
  const rollouts = await admin.waitForRollouts(['a', 'b', 'c']);
  expect(rollouts.map(({ state, failure }) => [state, failure])).toEqual(
    ['a', 'b', 'c'].map(() => ['succeeded', null]),
  );
  for (const { id } of rollouts) {
    const [attempt] = await admin.listAttempts(id);
    expect(await admin.listRewards(attempt!.id)).toMatchObject([
      { source: 'grader', value: expect.any(Number) as number },
    ]);
    const [call] = await admin.listCalls(attempt!.id);
    expect(call).toMatchObject({ untrainable: null, policy: 'policy' });
    expect(call!.choices[0]!.logProbs.length).toBe(call!.choices[0]!.tokenIds.length);
  }

  const { stdout } = await runAgl(
    ['rollouts', '--store', url, '--run', 'run', '--attempts', '--json', '--limit', '2'],
    env,
  );
  const [{ rollouts: listed }] = jsonLines(stdout) as [{ rollouts: { id: string; tries: { state: string }[] }[] }];
  expect(listed.map(({ id, tries }) => [id, tries.map(({ state }) => state)])).toEqual([
    ['c', ['succeeded']],
    ['b', ['succeeded']],
  ]);
  const text = await runAgl(['rollouts', '--store', url, '--state', 'succeeded'], env);
  expect(text.stdout).toMatch(/^c {2}succeeded {2}step 0 {2}task task {2}run run {2}1 attempts$/m);

  controller.child.kill('SIGTERM');
  expect(await controller.ended).toMatchObject({ code: 0, stderr: '' });
  expect((await admin.queryWorkers({})).items).toMatchObject([{ state: 'gone' }]);
});

it('ends when it is told to, also when the server has gone', async () => {
  const other = startAgl([
    'serve',
    project.file('model'),
    '--store',
    project.file('other.db'),
    '--port',
    '0',
    '--json',
  ]);
  await other.line(/"store"/);
  const { store } = jsonLines(other.output())[0] as { store: string };
  const { stdout: token } = await runAgl(['token', '--store', project.file('other.db')]);
  const controller = startAgl(['controller', project.folder, '--store', store], { AGL_STORE_KEY: token.trim() });
  await controller.line(/ready/);
  other.child.kill('SIGKILL');
  await other.ended;
  controller.child.kill('SIGTERM');
  expect(await controller.ended).toMatchObject({ code: 0, stderr: '' });
});

it('says what is missing or wrong', async () => {
  const args = ['controller', project.folder, '--store'];
  expect((await runAgl([...args, url], { AGL_STORE_KEY: '' })).stderr).toContain('AGL_STORE_KEY is not set');
  expect((await runAgl([...args, url], { AGL_STORE_KEY: 'wrong' })).stderr).toContain('[invalid_api_key]');
  expect((await runAgl([...args, project.store], { AGL_STORE_KEY: 'x' })).stderr).toContain('[no_server]');
  const narrow = await runAgl(['token', '--scope', 'grader', '--store', project.store]);
  const refused = await runAgl([...args, url], { AGL_STORE_KEY: narrow.stdout.trim() });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('[scope_too_narrow]') as string });
});
