import { rmSync } from 'node:fs';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../store/index.ts';
import { startFakeServer } from '../upstreams/testing/servers/index.ts';
import { startAgl } from './testing/run-agl.ts';
import { tinyProject } from './testing/tiny-project.ts';

it('agl serve --config answers from the configured model servers, and says what they can do', async () => {
  const model = await startFakeServer({ script: () => 'Fine.' });
  const project = await tinyProject({ models: [{ alias: 'judge', upstream: 'vllm', url: model.url }] });
  const agl = startAgl(['serve', '--config', project.folder, '--port', '0', '--json']);
  let printed = '';
  agl.child.stdout.on('data', (text: string) => {
    printed += text;
  });
  await agl.line(/"url".*\n/);
  const { url } = JSON.parse(printed) as { url: string };
  const client = new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const answer = await client.chat.completions.create({ model: 'judge', messages });
  expect(answer.choices[0]?.message.content).toBe('Fine.');
  agl.child.kill('SIGTERM');
  const { code, stderr } = await agl.ended;
  expect([code, stderr]).toEqual([0, expect.stringContaining('judge: vllm 0.32.0')]);
  await model.close();
  rmSync(project.folder, { recursive: true });
}, 60_000);

it('agl serve --config prunes the store that it serves, as the configuration says', async () => {
  const model = await startFakeServer({ script: () => 'Fine.' });
  const project = await tinyProject({
    models: [{ alias: 'judge', upstream: 'vllm', url: model.url }],
    retention: { keepRuns: 1, remove: 'runs' },
  });
  const store = await openSqliteStore({ path: project.store });
  for (const id of ['open', 'old', 'new']) await store.createRun({ id, config: {} });
  for (const id of ['old', 'new']) await store.finishRun(id, 'finished');
  await store.close();
  const agl = startAgl(['serve', '--config', project.folder, '--store', project.store, '--port', '0']);
  await agl.line(/Ctrl-C ends it/);
  agl.child.kill('SIGTERM');
  const { code, stderr } = await agl.ended;
  expect([code, stderr]).toEqual([0, expect.stringContaining('Retention: removed all of 1 runs')]);
  const after = await openSqliteStore({ path: project.store });
  expect((await after.listRuns()).map(({ id }) => id).sort()).toEqual(['new', 'open']);
  await after.close();
  await model.close();
  rmSync(project.folder, { recursive: true });
}, 60_000);
