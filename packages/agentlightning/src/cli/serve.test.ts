import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { runAgl, startAgl } from './testing/run-agl.ts';
import { tinyProject } from './testing/tiny-project.ts';

const project = await tinyProject();
const model = project.file('model');
const folder = join(project.folder, '.agl');
const store = project.store;
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});
afterAll(() => rmSync(project.folder, { recursive: true }));

async function serve(...args: string[]) {
  const agl = startAgl(['serve', model, '--store', store, '--port', '0', ...args]);
  closers.push(() => agl.child.kill());
  await agl.line(/Ctrl-C ends it/);
  const url = /at (\S+)\/v1/.exec(agl.output())?.[1] ?? '';
  const status = async (path: string, key?: string) =>
    (await fetch(`${url}${path}`, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } })).status;
  return { agl, status };
}

it('asks programs on this machine for no key, and says so', async () => {
  const { agl, status } = await serve();
  expect(agl.output()).toContain('Programs on this machine need no key; nobody else reaches it.');
  expect(await status('/v1/models')).toBe(200);
  expect(await status('/metrics')).toBe(401);
  const key = readFileSync(join(folder, 'admin-key'), 'utf8').trim();
  expect(await status('/metrics', key)).toBe(200);
  expect(agl.output()).not.toContain(key);
});

it('asks everybody on other addresses, and says what is exposed; keys of `agl token` open their scope', async () => {
  const log = join(folder, 'server.log');
  const { agl, status } = await serve('--host', '0.0.0.0', '--log', log);
  expect(agl.output()).toContain('From every machine that reaches 0.0.0.0: the models, with the key in ');
  expect(await status('/v1/models')).toBe(401);
  expect(await status('/healthz')).toBe(200);
  const key = readFileSync(join(folder, 'admin-key'), 'utf8').trim();
  expect(await status('/v1/models', key)).toBe(200);
  const made = await runAgl(['token', '--scope', 'grader', '--hours', '1', '--store', store, '--json']);
  const { key: grader } = JSON.parse(made.stdout) as { key: string };
  expect(await status('/metrics', grader)).toBe(200);
  expect(await status('/v1/models', grader)).toBe(403);
  agl.child.kill('SIGTERM');
  await agl.ended;
  const lines = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; code: string });
  expect(lines.map(({ event, code }) => `${event} ${code}`)).toEqual(['refused missing_api_key', 'refused no_attempt']);
  for (const secret of [key, grader]) expect(readFileSync(log, 'utf8')).not.toContain(secret);
});

it('wants certificate and key together', async () => {
  const { code, stderr } = await runAgl(['serve', model, '--store', store, '--tls-cert', 'x']);
  expect(code).toBe(1);
  expect(stderr).toContain('--tls-key is missing');
});
