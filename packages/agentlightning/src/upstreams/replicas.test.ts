import { afterEach, describe, expect, it } from 'vitest';
import { upstreamKinds } from './kinds.ts';
import type { RemoteUpstream, RemoteUpstreamOptions } from './remote.ts';
import { type FakeServer, startFakeServer } from './testing/servers/index.ts';
import { testModelFolder } from './testing/servers/test-model.ts';
import { contextOf, eventsOf, textOf, turnOf } from './testing/turns.ts';

const open: FakeServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** Two vLLM servers with the same weights, behind one upstream. */
async function startPair(options: Partial<RemoteUpstreamOptions> = {}) {
  const servers = [
    await startFakeServer({ script: () => 'one two three' }),
    await startFakeServer({ script: () => 'one two three' }),
  ];
  open.push(...servers);
  const url = servers.map((server) => server.url);
  const upstream = await upstreamKinds[0].create({
    ...{ name: 'pair', url, policy: 'policy', tokenizer: testModelFolder, retryAfterMs: 1, ...options },
  });
  for (const server of servers) server.requests.length = 0;
  return { servers, upstream };
}

const hello = turnOf({ messages: [{ role: 'user', content: 'hi' }] });
const ask = async (upstream: RemoteUpstream, attemptId: string) =>
  textOf(await eventsOf(upstream.generate(hello, { ...contextOf(), attemptId })));
const counts = (servers: FakeServer[]) => servers.map(({ requests }) => requests.length);

describe('several servers with the same weights', () => {
  it('share the attempts, each of which stays with its own', async () => {
    const { servers, upstream } = await startPair();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const before = counts(servers);
      for (let call = 0; call < 3; call += 1) await ask(upstream, `attempt-${attempt}`);
      const grown = counts(servers).map((count, index) => count - (before[index] ?? 0));
      expect(grown.sort()).toEqual([0, 3]);
    }
    expect(Math.min(...counts(servers))).toBeGreaterThan(0);
  });

  it('stand in for one that is gone, with the exact ids of the conversation so far', async () => {
    const { servers, upstream } = await startPair();
    const context = { ...contextOf(), attemptId: 'a' };
    const first = await eventsOf(upstream.generate(hello, context));
    const owner = servers.find(({ requests }) => requests.length === 1);
    const other = servers.find(({ requests }) => requests.length === 0);
    await owner?.close();
    const messages = [
      ...hello.messages,
      { role: 'assistant' as const, content: textOf(first) },
      { role: 'user' as const, content: 'on' },
    ];
    expect(textOf(await eventsOf(upstream.generate(turnOf({ messages }), context)))).toBe('one two three');
    const [request] = owner?.requests ?? [];
    const sampled = [...(request?.promptIds ?? []), ...(request?.answers[0]?.ids ?? [])];
    expect(other?.requests[0]?.promptIds.slice(0, sampled.length)).toEqual(sampled);
    expect(await upstream.obstacle?.()).toBeNull();
    await other?.close();
    expect(await upstream.obstacle?.()).toMatch(/^No answer from http/);
  });

  it('are all given new weights', async () => {
    const { servers, upstream } = await startPair();
    await upstream.publish?.({ version: 1, path: '/weights/1' });
    for (let attempt = 0; attempt < 10; attempt += 1) await ask(upstream, `attempt-${attempt}`);
    expect(servers.map(({ requests }) => [...new Set(requests.map(({ model }) => model))])).toEqual([
      ['policy-1'],
      ['policy-1'],
    ]);
  });
});

describe('a request that fails', () => {
  it('is tried again before its first byte, as often as configured', async () => {
    const server = await startFakeServer({ script: () => 'one two three' });
    open.push(server);
    const reach = { name: 'one', url: server.url, policy: 'policy', tokenizer: testModelFolder, retryAfterMs: 1 };
    const upstream = await upstreamKinds[0].create({ ...reach, retries: 2 });
    server.requests.length = 0;
    server.order({ kind: 'status', status: 503 });
    server.order({ kind: 'status', status: 503 });
    expect(await ask(upstream, 'a')).toBe('one two three');
    expect(server.requests).toHaveLength(1);
    for (let time = 0; time < 3; time += 1) server.order({ kind: 'status', status: 503 });
    await expect(ask(upstream, 'a')).rejects.toMatchObject({ retryable: true });
  });

  it('is not tried again once a byte of the answer has come: the client has it already', async () => {
    const { servers, upstream } = await startPair();
    for (const server of servers) server.order({ kind: 'reset', after: 1 });
    await expect(ask(upstream, 'a')).rejects.toMatchObject({ code: 'upstream_unreachable' });
    expect(counts(servers).sort()).toEqual([0, 1]);
  });

  it.each([400, 404, 422])('is not tried again when it would be refused again: %d', async (status) => {
    const { servers, upstream } = await startPair();
    for (const server of servers) server.order({ kind: 'status', status });
    await expect(ask(upstream, 'a')).rejects.toMatchObject({ status, retryable: false });
    expect(counts(servers)).toEqual([0, 0]);
  });
});
