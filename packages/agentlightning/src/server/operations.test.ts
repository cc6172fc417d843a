import { readFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { afterEach, describe, expect, it } from 'vitest';
import { makeKey, Routes, Sessions } from '../gateway/index.ts';
import { createEmbeddedUpstream, type Upstream } from '../upstreams/index.ts';
import { byteModel, say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import type { LogEntry } from './log.ts';
import { createServer, type ServerOptions } from './server.ts';
import { startGateway } from './testing/started-gateway.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const chatBody = { model: 'policy', messages: [{ role: 'user', content: 'hi' }] };

async function started(settings: Parameters<typeof startGateway>[1] = {}) {
  const gateway = await startGateway(
    scriptedEngine(() => say('ok')),
    settings,
  );
  closers.push(() => gateway.close());
  const post = (body: unknown, headers: Record<string, string>) =>
    fetch(`${gateway.server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  return { gateway, post };
}

async function bare(
  options: Partial<ServerOptions>,
  upstream: Upstream = createEmbeddedUpstream({ ...byteModel, engine: scriptedEngine(() => say('ok')) }),
) {
  const routes = new Routes([{ alias: 'policy', upstream }], 'policy');
  const server = await createServer({ store: null, sessions: new Sessions(), routes, onFatal: () => {}, ...options });
  closers.push(() => server.close());
  return server;
}

describe('an idempotency key', () => {
  it.each([false, true])('gives the recorded answer again, with one call made (stream: %s)', async (stream) => {
    const { gateway, post } = await started();
    const { attemptId, token } = await gateway.attempt();
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'one' };
    const answers = [];
    for (let time = 0; time < 2; time += 1) answers.push(await (await post({ ...chatBody, stream }, headers)).text());
    const ids = (text: string) => [...text.matchAll(/"id":"(chatcmpl-[^"]+)"/g)].map((match) => match[1]);
    expect(new Set(answers.flatMap(ids)).size).toBe(1);
    const content = (text: string) => [...text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join('');
    expect(answers.map(content)).toEqual(['ok', 'ok']);
    expect(await gateway.store.listCalls(attemptId)).toHaveLength(1);
    const other = await post({ ...chatBody, temperature: 0.5 }, headers);
    expect([other.status, await other.json()]).toMatchObject([422, { error: { code: 'idempotency_key_reused' } }]);
  });

  it('is one of the attempt: two attempts may use the same', async () => {
    const { gateway, post } = await started();
    for (const { attemptId, token } of [await gateway.attempt(), await gateway.attempt()]) {
      expect((await post(chatBody, { authorization: `Bearer ${token}`, 'idempotency-key': 'one' })).status).toBe(200);
      expect(await gateway.store.listCalls(attemptId)).toHaveLength(1);
    }
  });

  it('is needed: equal text is never taken for a retry', async () => {
    const { gateway, post } = await started();
    const { attemptId, token } = await gateway.attempt();
    for (let time = 0; time < 2; time += 1) await post(chatBody, { authorization: `Bearer ${token}` });
    expect(await gateway.store.listCalls(attemptId)).toHaveLength(2);
  });
});

describe('a budget', () => {
  it.each([
    [
      '/v1/chat/completions',
      chatBody,
      (body: unknown) => expect(body).toMatchObject({ error: { code: 'budget_exceeded' } }),
    ],
    [
      '/v1/messages',
      { ...chatBody, max_tokens: 9 },
      (body: unknown) => expect(body).toMatchObject({ type: 'error', error: { type: 'permission_error' } }),
    ],
  ] as const)('ends in the error of the dialect, and no client retries it: %s', async (path, body, check) => {
    const { gateway } = await started();
    const { attemptId, token } = await gateway.attempt({ budget: { calls: 1 } });
    const ask = () =>
      fetch(`${gateway.server.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([403, 'false']);
    check(await refused.json());
    expect(await gateway.store.listCalls(attemptId)).toHaveLength(1);
  });
});

describe('a stream without news', () => {
  it('is kept alive by comments, which are not part of the answer', async () => {
    let go: () => void = () => {};
    const slow = new Promise<void>((resolve) => {
      go = resolve;
    });
    const engine = scriptedEngine(() => say('ok'));
    const upstream = createEmbeddedUpstream({ ...byteModel, engine });
    const waiting: Upstream = {
      ...upstream,
      async *generate(turn, context) {
        await slow;
        yield* upstream.generate(turn, context);
      },
      forget: (id) => upstream.forget(id),
    };
    const server = await bare({ serve: {}, pingMs: 5 }, waiting);
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...chatBody, stream: true }),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(/^: waiting\n\n/);
    go();
    let text = '';
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value;
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join('')).toBe('ok');
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
  });
});

describe('/metrics', () => {
  it('counts calls, tokens and refusals, and names neither attempts nor keys', async () => {
    const { gateway, post } = await started();
    const { token, attemptId } = await gateway.attempt();
    await post(chatBody, { authorization: `Bearer ${token}` });
    await post({ ...chatBody, messages: 3 }, { authorization: `Bearer ${token}` });
    await post(chatBody, { authorization: 'Bearer agl-wrong' });
    const response = await fetch(`${gateway.server.url}/metrics`);
    const text = await response.text();
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(text).toContain('agl_calls_total{model="policy",dialect="chat",outcome="ok"} 1');
    expect(text).toContain('agl_tokens_total{model="policy",kind="completion"} 3');
    expect(text).toContain('agl_refused_requests_total{code="invalid_value"} 1');
    expect(text).toContain('agl_refused_requests_total{code="invalid_api_key"} 1');
    expect(text).toContain('agl_call_seconds_count{model="policy"} 1');
    for (const secret of [token, attemptId]) expect(text).not.toContain(secret);
  });

  it('needs a key of any scope where there is an admin key', async () => {
    const server = await bare({ adminKey: 'secret' });
    const ask = async (key: string) =>
      (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await ask('secret')).toBe(200);
    expect(await ask(makeKey('secret', { scope: 'grader', expiresAt: Date.now() + 60_000 }))).toBe(200);
    expect(await ask(makeKey('secret', { scope: 'grader', expiresAt: Date.now() - 1 }))).toBe(401);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  });
});

describe('/readyz', () => {
  it('tells which model cannot be answered, and when the store cannot be written to', async () => {
    const upstream = createEmbeddedUpstream({ ...byteModel, engine: scriptedEngine(() => say('ok')) });
    let obstacle: string | null = 'no connection';
    const flaky: Upstream = {
      ...upstream,
      generate: (turn, context) => upstream.generate(turn, context),
      obstacle: async () => obstacle,
      forget: () => {},
    };
    const server = await bare({}, flaky);
    const ask = async () => {
      const response = await fetch(`${server.url}/readyz`);
      return [response.status, await response.json()];
    };
    expect(await ask()).toEqual([503, { status: 'not ready', obstacles: ['policy: no connection'] }]);
    obstacle = null;
    expect(await ask()).toEqual([200, { status: 'ready' }]);
    expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: 'ok' });
  });
});

describe('the log', () => {
  it('has a line for each call and each refusal, without any key, prompt or answer', async () => {
    const entries: LogEntry[] = [];
    const { gateway, post } = await started({ log: (entry) => entries.push(entry) });
    const { token, attemptId } = await gateway.attempt();
    await post({ ...chatBody, messages: [{ role: 'user', content: 'PRIVATE' }] }, { authorization: `Bearer ${token}` });
    await fetch(`${gateway.server.url}/v1/models?key=agl-not-a-key`);
    await fetch(`${gateway.server.url}/v1/nothing?key=${token}`);
    const [call] = await gateway.store.listCalls(attemptId);
    expect(entries).toMatchObject([
      {
        event: 'call',
        callId: call?.id,
        attemptId,
        dialect: 'chat',
        model: 'policy',
        status: 200,
        completionTokens: 3,
      },
      {
        event: 'refused',
        status: 401,
        code: 'invalid_api_key',
        method: 'GET',
        path: '/v1/models',
        remoteAddress: '127.0.0.1',
      },
      { event: 'refused', status: 404, code: 'unknown_path', path: '/v1/nothing' },
    ]);
    for (const secret of [token, 'agl-not-a-key', 'PRIVATE', '"ok"'])
      expect(JSON.stringify(entries)).not.toContain(secret);
  });
});

describe('the key of a request', () => {
  it.each([
    ['Authorization: Bearer', (key: string) => ({ headers: { authorization: `bearer ${key}` } })],
    ['x-api-key', (key: string) => ({ headers: { 'x-api-key': key } })],
    ['x-goog-api-key', (key: string) => ({ headers: { 'x-goog-api-key': key } })],
    ['?key=', (key: string) => ({ query: `?key=${key}` })],
  ] as const)('may come as %s', async (_, place) => {
    const { gateway } = await started();
    const { token } = await gateway.attempt();
    const ask = (key: string) => {
      const { headers = {}, query = '' } = place(key) as { headers?: Record<string, string>; query?: string };
      return fetch(`${gateway.server.url}/v1/models${query}`, { headers });
    };
    expect((await ask(token)).status).toBe(200);
    expect((await ask(`${token}x`)).status).toBe(401);
  });
});

describe('TLS', () => {
  it('serves HTTPS with the certificate that it is given', async () => {
    const pem = (name: string) =>
      readFileSync(new URL(`../../src/server/testing/localhost-${name}.pem`, import.meta.url), 'utf8');
    const server = await bare({ serve: {}, tls: { cert: pem('cert'), key: pem('key') } });
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const status = await new Promise((resolve, reject) => {
      const { port } = new URL(server.url);
      httpsRequest({ port, host: 'localhost', path: '/healthz', ca: pem('cert') }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });
});

describe('two clients with the same key', () => {
  it('are one attempt: both are answered, and each call has its own place', async () => {
    const { gateway, post } = await started();
    const { attemptId, token } = await gateway.attempt();
    const headers = { authorization: `Bearer ${token}` };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post({ ...chatBody, stream: index % 2 === 0 }, headers)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await Promise.all(answers.map((answer) => answer.text()));
    const calls = await gateway.store.listCalls(attemptId);
    expect(calls.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(new Set(calls.map(({ sampling }) => sampling.seed)).size).toBe(20);
  });
});
