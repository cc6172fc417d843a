import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Api, createApi } from './api.ts';
import { listWatch } from './list-watch.ts';

interface Thing {
  metadata: { uid: string; resourceVersion: string };
}

/** What the server does with one request after the other. */
type Step = (response: ServerResponse, query: URLSearchParams) => void;

let steps: Step[];
let asked: string[];
let api: Api;
let abort: AbortController;
const server = createServer((incoming, response) => {
  const { searchParams } = new URL(incoming.url ?? '', 'http://x');
  asked.push(searchParams.has('watch') ? `watch ${searchParams.get('resourceVersion')}` : 'list');
  const step = steps.shift();
  if (step) step(response, searchParams);
  else abort.abort();
});

beforeEach(async () => {
  [steps, asked, abort] = [[], [], new AbortController()];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  api = createApi({ url, dispatcher: new Agent(), authorization: async () => 'Bearer t' });
});
afterEach(async () => {
  await api.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const thing = (uid: string, version: number): Thing => ({ metadata: { uid, resourceVersion: String(version) } });
const list =
  (version: number, ...items: Thing[]): Step =>
  (response) =>
    response.end(JSON.stringify({ metadata: { resourceVersion: String(version) }, items }));
const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const watch =
  (...lines: string[]): Step =>
  (response) =>
    response.end(lines.join(''));
const breaks =
  (...lines: string[]): Step =>
  (response) => {
    response.write(lines.join(''), () => response.destroy());
  };
const status =
  (code: number, reason: string): Step =>
  (response) =>
    response.writeHead(code).end(JSON.stringify({ kind: 'Status', code, reason, message: reason }));

async function follow(...given: Step[]): Promise<string[]> {
  steps = given;
  const seen: string[] = [];
  await listWatch<Thing>({
    api,
    path: '/things',
    query: {},
    signal: abort.signal,
    retryMs: { first: 1, max: 2 },
    onChange: ({ metadata }, gone) => seen.push(`${gone ? '-' : '+'}${metadata.uid}@${metadata.resourceVersion}`),
  });
  return seen;
}

it('goes on where a watch ended, also after a bookmark', async () => {
  const bookmark = event('BOOKMARK', { metadata: { resourceVersion: '9' } });
  const seen = await follow(
    list(5, thing('a', 3)),
    watch(event('MODIFIED', thing('a', 6)), event('ADDED', thing('b', 7))),
    watch(event('DELETED', thing('a', 8)), bookmark),
  );
  expect(seen).toEqual(['+a@3', '+a@6', '+b@7', '-a@8']);
  expect(asked).toEqual(['list', 'watch 5', 'watch 7', 'watch 9']);
});

it('lists again when its version is too old, and tells what went meanwhile', async () => {
  const expired = event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' });
  const seen = await follow(list(1, thing('a', 1), thing('b', 1)), watch(expired), list(20, thing('b', 15)), watch());
  expect(seen).toEqual(['+a@1', '+b@1', '-a@1', '+b@15']);
  expect(asked.slice(0, 4)).toEqual(['list', 'watch 1', 'list', 'watch 20']);
});

it('also when the server refuses the version at once', async () => {
  await follow(list(1), status(410, 'Expired'), list(2), watch());
  expect(asked.slice(0, 4)).toEqual(['list', 'watch 1', 'list', 'watch 2']);
});

it('comes back after a broken connection, and does not take half an event', async () => {
  const half = event('MODIFIED', thing('a', 3)).slice(0, -10);
  const seen = await follow(
    list(1, thing('a', 1)),
    breaks(event('MODIFIED', thing('a', 2)), half),
    status(503, 'ServiceUnavailable'),
    watch(event('MODIFIED', thing('a', 3))),
  );
  expect(seen).toEqual(['+a@1', '+a@2', '+a@3']);
  expect(asked.slice(0, 4)).toEqual(['list', 'watch 1', 'watch 2', 'watch 2']);
});

it('takes an event apart from the pieces it comes in', async () => {
  const seen = await follow(list(1), (response) => {
    const bytes = Buffer.from(event('ADDED', thing('ä', 2)));
    const middle = bytes.indexOf(0xc3) + 1; // within a character
    response.write(bytes.subarray(0, middle), () => setImmediate(() => response.end(bytes.subarray(middle))));
  });
  expect(seen).toEqual(['+ä@2']);
});

it('gives up when it may not read', async () => {
  await expect(follow(status(403, 'Forbidden'))).rejects.toMatchObject({ code: 'kubernetes_api', status: 403 });
});
