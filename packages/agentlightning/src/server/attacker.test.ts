import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storePath, storeStreams, storeVerbs } from '../store/http/verbs.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import type { LogEntry } from './log.ts';
import { rawHttp } from './testing/raw-http.ts';
import { type OpenAttempt, type StartedGateway, startGateway } from './testing/started-gateway.ts';

/** What an agent might try with the token of its own attempt. Everything fails, changes nothing of others, and is logged. */
let gateway: StartedGateway;
let own: OpenAttempt;
let other: OpenAttempt;
let log: LogEntry[];
beforeEach(async () => {
  log = [];
  gateway = await startGateway(
    scriptedEngine(() => say('ok')),
    { log: (entry) => log.push(entry), adminKey: 'the-admin-key', serve: {}, requestTimeoutMs: 5000, api: true },
  );
  own = await gateway.attempt();
  other = await gateway.attempt();
});
afterEach(async () => {
  for (const table of ['listCalls', 'listRewards', 'listSpans'] as const) {
    expect(await gateway.store[table](other.attemptId)).toEqual([]);
  }
  expect(gateway.fatal).toEqual([]);
  expect(JSON.stringify(log)).not.toContain(own.token);
  await gateway.close();
});

const chat = { model: 'policy', messages: [{ role: 'user', content: 'hi' }] };
const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${gateway.server.url}${path}`, {
    ...init,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${own.token}`, ...init.headers },
  });
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(path, { method: 'POST', body: JSON.stringify(body), headers });
const refusals = () => log.filter((entry) => entry.event === 'refused').map(({ status, code }) => `${status} ${code}`);

describe("another attempt's", () => {
  it.each([
    ['calls, by its path', () => `/rollout/${other.rolloutId}/attempt/1/v1/chat/completions`],
    ['calls, by its id', () => `/rollout/${other.rolloutId}/attempt/${other.attemptId}/v1/chat/completions`],
    [
      'calls, with its own rollout in front',
      () => `/rollout/${own.rolloutId}/attempt/${other.attemptId}/v1/chat/completions`,
    ],
    ['calls, encoded', () => `/rollout/${other.rolloutId.replace('-', '%2d')}/attempt/1/v1/chat/completions`],
    ['events', () => `/api/rollouts/${other.rolloutId}/attempt/1/events`],
    ['spans', () => `/rollout/${other.rolloutId}/attempt/1/v1/traces`],
  ])('%s', async (_, path) => {
    const response = await post(path(), chat);
    expect(response.status).toBe(403);
    expect(refusals()).toEqual(['403 wrong_attempt']);
  });

  it('rewards', async () => {
    for (const attemptId of [other.attemptId, `${own.attemptId} `, '', own.attemptId.toUpperCase()]) {
      expect((await post('/agl/v1/rewards', { value: 1, attemptId })).status).toBe(400);
    }
    expect(await gateway.store.listRewards(own.attemptId)).toEqual([]);
  });

  it('rewards, through a span that names it', async () => {
    const event = {
      name: 'gen_ai.evaluation.result',
      timeUnixNano: '1700000000000000000',
      attributes: [{ key: 'gen_ai.evaluation.score.value', value: { doubleValue: 1 } }],
    };
    const span = {
      traceId: 'ab'.repeat(16),
      spanId: 'cd'.repeat(8),
      name: 'work',
      startTimeUnixNano: '1700000000000000000',
      attributes: [{ key: 'agl.attempt_id', value: { stringValue: other.attemptId } }],
      events: [event],
    };
    const resource = { attributes: [{ key: 'agl.attempt_id', value: { stringValue: other.attemptId } }] };
    await post('/v1/traces', { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] });
    expect((await gateway.store.listSpans(own.attemptId)).map(({ attemptId }) => attemptId)).toEqual([own.attemptId]);
  });
});

describe('what belongs to nobody but us', () => {
  it.each([
    ['/metrics', 'GET', '403 invalid_api_key'],
    ['/agl/v1/store/tasks', 'GET', ''],
    ['/agl/v1/tasks', 'GET', ''],
    ['/admin', 'GET', ''],
    ['/.env', 'GET', ''],
    ['/v1/models/../../etc/passwd', 'GET', ''],
    ['/v1/models/%2e%2e%2f%2e%2e%2fetc%2fpasswd', 'GET', ''],
    ['/v1/../metrics', 'GET', ''],
    ['//metrics', 'GET', ''],
    ['/METRICS', 'GET', ''],
    ['/metrics%00', 'GET', ''],
    ['/v1/chat/completions', 'GET', ''],
    ['/v1/chat/completions', 'DELETE', ''],
    ['/v1/rewards', 'POST', ''],
  ])('%s by %s', async (path, method) => {
    const response = await ask(path, { method, ...(method === 'POST' ? { body: '{}' } : {}) });
    expect([400, 401, 403, 404]).toContain(response.status);
    expect(await response.text()).not.toMatch(/root:|private|agl_calls_total/);
    expect(refusals()).toHaveLength(1);
  });
});

describe("the store's API", () => {
  it('opens no verb to the token of an attempt, wherever it stands in the request', async () => {
    const routes = Object.entries({ ...storeVerbs, ...storeStreams });
    for (const [name, { method }] of routes) {
      const response = await ask(storePath(name), { method, ...(method === 'POST' ? { body: '{}' } : {}) });
      expect(await response.json()).toMatchObject({ error: { code: 'attempt_key', category: 'user' } });
    }
    expect(refusals()).toEqual(routes.map(() => '403 attempt_key'));
    const byQuery = await fetch(`${gateway.server.url}${storePath('listRuns')}?key=${own.token}`);
    expect(byQuery.status).toBe(403);
    // The wider key does not help when the token comes first.
    const both = await ask(storePath('listRuns'), { headers: { 'x-api-key': 'the-admin-key' } });
    expect(both.status).toBe(403);
    await gateway.sessions.close(own.attemptId);
    expect((await ask(storePath('listRuns'))).status).toBe(403);
  });
});

describe('requests that are not what they seem', () => {
  it.each([
    [
      'two keys: the first counts, whatever the second says',
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer wrong\r\nauthorization: Bearer KEY\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
      /^HTTP\/1\.1 (400|401) /,
    ],
    [
      'a length and chunks at once',
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY\r\ncontent-type: application/json\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nhost: x\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    [
      'two lengths',
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY\r\ncontent-length: 2\r\ncontent-length: 40\r\n\r\n{}`,
      /^HTTP\/1\.1 400 /,
    ],
    [
      'a chunk size that overflows',
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    [
      'a header that is too long',
      `GET /v1/models HTTP/1.1\r\nhost: x\r\nx-junk: ${'j'.repeat(100_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
    [
      'a line break within a header',
      `GET /v1/models HTTP/1.1\r\nhost: x\r\nx-agl-agent: a\rb\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    ['no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
  ])('%s', async (_, text, answer) => {
    const got = await rawHttp(gateway.server.url, text.replaceAll('KEY', own.token));
    expect(got).toMatch(answer);
    expect(got).not.toContain('agl_calls_total');
    expect((got.match(/HTTP\/1\.1 /g) ?? []).length).toBe(1);
  });

  it('a body that is larger than the limit, in one piece or many', async () => {
    const large = JSON.stringify({ ...chat, junk: 'x'.repeat(33 * 1024 * 1024) });
    expect((await ask('/v1/chat/completions', { method: 'POST', body: large })).status).toBe(413);
    const half = new TextEncoder().encode('y'.repeat(20 * 1024 * 1024));
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(half);
        controller.enqueue(half);
        controller.close();
      },
    });
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit;
    const status = await ask('/v1/chat/completions', init).then(
      (response) => response.status,
      () => 413, // The server may close before it has read all.
    );
    expect(status).toBe(413);
  });

  it.each([
    ['lists', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ])('a body nested without end: %s', async (_, deep) => {
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/agl/v1/rewards']) {
      const response = await ask(path, {
        method: 'POST',
        body: `{"model":"policy","messages":${deep},"value":${deep}}`,
      });
      expect(response.status).toBe(400);
    }
  });

  it('an attribute of a span nested without end', async () => {
    const deep = `${'{"arrayValue":{"values":['.repeat(20_000)}${']}}'.repeat(20_000)}`;
    const span = `{"traceId":"${'ab'.repeat(16)}","spanId":"${'cd'.repeat(8)}","name":"x","attributes":[{"key":"a","value":${deep}}]}`;
    const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`;
    expect((await ask('/v1/traces', { method: 'POST', body })).status).toBeLessThan(500);
  });

  it.each([
    ['head', 'GET /v1/models HTTP/1.1\r\nhost: x\r\nx-slow: '],
    [
      'body',
      'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{',
    ],
  ])('a %s that never comes to its end: the connection is not held open', async (_, begun) => {
    const got = await rawHttp(gateway.server.url, begun.replace('KEY', own.token), 20_000);
    expect(got).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  it('names of properties that every object has', async () => {
    const body =
      '{"model":"policy","messages":[{"role":"user","content":"hi"}],"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}';
    const response = await ask('/v1/chat/completions', { method: 'POST', body });
    expect([200, 400]).toContain(response.status);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe('after the end of the attempt', () => {
  it('the token opens nothing, and a stream under way is cut', async () => {
    await gateway.sessions.close(own.attemptId);
    for (const path of ['/v1/chat/completions', '/v1/messages', '/agl/v1/rewards', '/v1/traces']) {
      expect((await post(path, chat)).status).toBe(401);
    }
    expect(refusals()).toEqual(Array.from({ length: 4 }, () => '401 attempt_ended'));
  });

  it('no guess of a token comes near: nothing tells a wrong one from a nearly right one', async () => {
    const answers = new Set<string>();
    for (const token of [`${own.token}x`, own.token.slice(0, -1), own.token.toUpperCase(), 'agl-', 'x']) {
      answers.add(await (await post('/v1/chat/completions', chat, { authorization: `Bearer ${token}` })).text());
    }
    expect(answers.size).toBe(1);
  });
});
