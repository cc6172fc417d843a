import { rmSync } from 'node:fs';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
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
