import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../store/index.ts';

interface Child {
  process: ChildProcess;
  url: string;
  token: string;
  attemptId: string;
}

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agl-killed-'));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

async function start(rolloutId: string): Promise<Child> {
  const script = fileURLToPath(new URL('./testing/gateway-process.js', import.meta.url));
  const child = spawn(process.execPath, [script, join(folder, 'store.db'), rolloutId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { process: child, ...(JSON.parse(line) as Omit<Child, 'process'>) };
}

const ask = ({ url, token }: Child, content: string, stream: boolean) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: 'policy', stream, messages: [{ role: 'user', content }] }),
  });

it('killed in mid stream: every answer given whole is kept, the broken one breaks, and another gateway goes on', async () => {
  const first = await start('rollout-1');
  const given: string[] = [];
  for (let call = 0; call < 5; call += 1)
    given.push(((await (await ask(first, 'quick', false)).json()) as { id: string }).id);
  const streamed = await (await ask(first, 'quick', true)).text();
  given.push(/"id":"([^"]+)"/.exec(streamed)?.[1] ?? '');

  const reader = (await ask(first, 'slow', true)).body?.getReader();
  await reader?.read();
  await reader?.read();
  first.process.kill('SIGKILL');
  const rest = async () => {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read());
  };
  // The client sees a broken connection, never an end that looks like one.
  await expect(rest()).rejects.toThrow();

  const second = await start('rollout-2');
  expect((await ask(second, 'quick', false)).status).toBe(200);
  // The token died with its gateway.
  expect((await ask({ ...second, token: first.token }, 'quick', false)).status).toBe(401);
  const gone = once(second.process, 'exit');
  second.process.kill('SIGTERM');
  await gone;

  const store = await openSqliteStore({ path: join(folder, 'store.db') });
  const calls = await store.listCalls(first.attemptId);
  expect(calls.map(({ id }) => `chatcmpl-${id}`)).toEqual(given);
  expect(await store.listCalls(second.attemptId)).toHaveLength(1);
  await store.close();
});
