import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { makeKey } from '../gateway/index.ts';
import { type StartedGateway, startGateway } from '../server/testing/started-gateway.ts';
import { importArchive } from '../store/archive/index.ts';
import { openTables } from '../store/index.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { exportFormats } from './export-formats.ts';

const adminKey = 'the-admin-key';
const signal = new AbortController().signal;
const selection = { runs: null, minReward: 1, bestPerGroup: null, agents: null, models: null, deduplicate: true };
let gateway: StartedGateway;
let folder: string;
beforeAll(async () => {
  gateway = await startGateway(
    scriptedEngine(() => say('ok')),
    { api: true, adminKey },
  );
  const { token } = await gateway.attempt();
  const answer = await fetch(`${gateway.server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: 'hi' }] }),
  });
  expect(answer.status).toBe(200);
});
afterAll(() => gateway.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agl-remote-archive-'));
  vi.stubEnv('AGL_STORE_KEY', adminKey);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const write = (store: string, name: string, format: string) =>
  exportFormats.find((each) => each.name === format)!.write({ store, path: join(folder, name), signal, selection });

async function importInto(store: string, name: string): Promise<void> {
  const tables = await openTables(join(folder, store), 'write');
  await importArchive(tables, { path: join(folder, name), now: 0, conflicts: 'refuse' });
  await tables.close();
}

it('an archive of a server has everything, in either form, and comes back to the byte', async () => {
  const { written } = await write(gateway.server.url, 'one.jsonl', 'jsonl');
  expect(written).toMatchObject({ runs: 1, tasks: 1, rollouts: 1, calls: 1, call_choices: 1 });
  expect(await write(gateway.server.url, 'two', 'parquet')).toEqual({ written });
  await importInto('target.db', 'two');
  await write(join(folder, 'target.db'), 'three.jsonl', 'jsonl');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  expect(read('three.jsonl')).toBe(read('one.jsonl'));
  await expect(write(gateway.server.url, 'one.jsonl', 'jsonl')).rejects.toMatchObject({ code: 'archive_exists' });
});

it('is for a key of scope admin', async () => {
  const key = makeKey(adminKey, { scope: 'controller', expiresAt: Date.now() + 3_600_000 });
  const { token } = await gateway.attempt();
  for (const [held, code] of [
    [key, 'scope_too_narrow'],
    [token, 'attempt_key'],
    ['wrong', 'invalid_api_key'],
  ] as const) {
    vi.stubEnv('AGL_STORE_KEY', held);
    await expect(write(gateway.server.url, 'no.jsonl', 'jsonl')).rejects.toMatchObject({ code });
  }
  expect(readdirSync(folder)).toEqual([]);
});

it('leaves nothing when the connection breaks or the end is missing', async () => {
  const whole = await fetch(`${gateway.server.url}/agl/v1/archive`, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  const bytes = Buffer.from(await whole.arrayBuffer());
  const half = bytes.subarray(0, bytes.length >> 1);
  let breaks = true;
  const server = createServer((_, answer) => {
    if (!breaks) return void answer.end(half);
    answer.writeHead(200, { 'content-length': bytes.length });
    answer.write(half, () => answer.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(write(url, 'no.jsonl', 'jsonl')).rejects.toMatchObject({ code: 'answer_lost' });
  breaks = false;
  await expect(write(url, 'no.jsonl', 'jsonl')).rejects.toMatchObject({ code: 'archive_cut' });
  expect(readdirSync(folder)).toEqual([]);
  server.close();
});
