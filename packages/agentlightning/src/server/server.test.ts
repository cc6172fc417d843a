import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Routes, Sessions } from '../gateway/index.ts';
import { createEmbeddedUpstream } from '../upstreams/index.ts';
import { byteModel, say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { createServer, type ServerOptions } from './server.ts';
import { type StartedGateway, startGateway } from './testing/started-gateway.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function started(settings: Parameters<typeof startGateway>[1] = {}): Promise<StartedGateway> {
  const gateway = await startGateway(
    scriptedEngine(() => say('ok')),
    settings,
  );
  closers.push(() => gateway.close());
  return gateway;
}

function bareOptions(options: Partial<ServerOptions> = {}): ServerOptions {
  const upstream = createEmbeddedUpstream({ ...byteModel, engine: scriptedEngine(() => say('ok')) });
  const routes = new Routes([{ alias: 'policy', upstream }], 'policy');
  return { store: null, sessions: new Sessions(), routes, onFatal: () => {}, ...options };
}

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const chatBody = { model: 'policy', messages: [{ role: 'user', content: 'hi' }] };

describe('createServer', () => {
  it('says what to do about a port in use', async () => {
    const { server } = await started();
    const port = Number(new URL(server.url).port);
    await expect(createServer(bareOptions({ port }))).rejects.toMatchObject({
      code: 'port_in_use',
      category: 'user',
      message: `Port ${port} on 127.0.0.1 is in use by another program.`,
      hint: expect.stringContaining('port 0') as string,
    });
  });

  it('listens to other machines only with a key', async () => {
    await expect(createServer(bareOptions({ host: '0.0.0.0' }))).rejects.toMatchObject({ code: 'key_required' });
    await expect(createServer(bareOptions({ adminKey: '' }))).rejects.toMatchObject({ code: 'empty_key' });
    const server = await createServer(bareOptions({ host: '0.0.0.0', adminKey: 'secret', serve: {} }));
    closers.push(() => server.close());
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect((await post(`${server.url}/v1/chat/completions`, chatBody)).status).toBe(401);
    expect((await post(`${server.url}/v1/chat/completions`, chatBody, { 'x-api-key': 'secret' })).status).toBe(200);
  });

  it('names an address that this machine does not have', async () => {
    const options = bareOptions({ host: '203.0.113.1', adminKey: 'secret' });
    await expect(createServer(options)).rejects.toMatchObject({ code: 'host_unknown', category: 'user' });
  });

  it('serves without any attempt, unrecorded, and only models it has', async () => {
    const server = await createServer(bareOptions({ serve: {} }));
    closers.push(() => server.close());
    const answer = await post(`${server.url}/v1/chat/completions`, chatBody, { authorization: 'Bearer sk-any' });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'ok' } }] });
    const other = await post(`${server.url}/v1/chat/completions`, { ...chatBody, model: 'gpt-4o' });
    expect(other.status).toBe(404);
    expect(await other.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } });
  });

  it('records served calls under the attempt it is given', async () => {
    const gateway = await started();
    const attempt = await gateway.attempt();
    const server = await createServer(
      bareOptions({
        store: gateway.store,
        serve: { attempt: { attemptId: attempt.attemptId, rolloutId: attempt.rolloutId } },
      }),
    );
    closers.unshift(() => server.close());
    await post(`${server.url}/v1/chat/completions`, { ...chatBody, temperature: 0 });
    const [call] = await gateway.store.listCalls(attempt.attemptId);
    expect(call).toMatchObject({ sampling: { temperature: 0 }, overridden: {}, untrainable: null });
  });

  it.each([
    ['text/plain', '{}', 415],
    ['application/json', '{"model": ', 400],
    ['application/json', '{"__proto__": {"a": 1}}', 400],
    ['application/json', '', 400],
  ])('refuses a body of %s: %s', async (type, body, status) => {
    const gateway = await started();
    const { token } = await gateway.attempt();
    const headers = { 'content-type': type, authorization: `Bearer ${token}` };
    const answer = await post(`${gateway.server.url}/v1/chat/completions`, body, headers);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('refuses a body over 32 MiB, and says which paths there are', async () => {
    const gateway = await started();
    const { token } = await gateway.attempt();
    const headers = { authorization: `Bearer ${token}` };
    const large = JSON.stringify({ ...chatBody, padding: 'x'.repeat(33 * 1024 * 1024) });
    const answer = await post(`${gateway.server.url}/v1/chat/completions`, large, headers).catch(() => null);
    // The server may close the connection before the client has sent it all.
    if (answer !== null) expect(answer.status).toBe(413);
    const nowhere = await post(`${gateway.server.url}/v1/nowhere?x=1`, {}, headers);
    expect(nowhere.status).toBe(404);
    expect(await nowhere.json()).toMatchObject({
      error: { code: 'unknown_path', message: expect.stringContaining('POST /v1/chat/completions') as string },
    });
  });

  it('never answers 5xx to any JSON', async () => {
    const gateway = await started();
    const { token } = await gateway.attempt({ mode: 'validation' });
    const members = fc.record(
      {
        model: fc.oneof(fc.constant('policy'), fc.jsonValue()),
        messages: fc.oneof(
          fc.array(fc.record({ role: fc.constantFrom('user', 'tool', 'x'), content: fc.jsonValue({ maxDepth: 2 }) })),
          fc.jsonValue(),
        ),
        tools: fc.jsonValue(),
        stream: fc.oneof(fc.boolean(), fc.jsonValue()),
        stop: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
        n: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.jsonValue()),
        max_tokens: fc.oneof(fc.integer(), fc.double()),
        temperature: fc.oneof(fc.double(), fc.string()),
        'x-extra': fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 5, arbitrary: members }, fc.jsonValue()), async (body) => {
        const headers = { authorization: `Bearer ${token}` };
        const answer = await post(`${gateway.server.url}/v1/chat/completions`, body, headers);
        const text = await answer.text();
        expect(answer.status, text).toBeLessThan(500);
        if (answer.status >= 400) expect(JSON.parse(text)).toHaveProperty('error.message');
      }),
      { numRuns: 150 },
    );
    expect(gateway.fatal).toEqual([]);
  });
});

describe('POST /agl/v1/rewards', () => {
  it("writes the attempt's own rewards and nothing else", async () => {
    const gateway = await started();
    const [own, other] = [await gateway.attempt(), await gateway.attempt()];
    const give = (body: unknown) =>
      post(`${gateway.server.url}/agl/v1/rewards`, body, { authorization: `Bearer ${own.token}` });
    expect((await give({ value: 0.5 })).status).toBe(201);
    expect((await give({ name: 'style', value: null, attemptId: own.attemptId })).status).toBe(201);
    expect(await gateway.store.listRewards(own.attemptId)).toMatchObject([
      { name: 'reward', value: 0.5, source: 'agent' },
      { name: 'style', value: null, source: 'agent' },
    ]);
    for (const [field, body] of [
      ['value', {}],
      ['value', { value: 'NaN' }],
      ['value', '{"value": 1e999}'],
      ['value', { value: true }],
      ['name', { name: '', value: 1 }],
      ['attemptId', { value: 1, attemptId: other.attemptId }],
      ['source', { value: 1, source: 'grader' }],
    ] as const) {
      const answer = await give(body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ field, detail: expect.stringContaining(`"${field}"`) as string });
    }
    expect(await gateway.store.listRewards(own.attemptId)).toHaveLength(2);
    expect(await gateway.store.listRewards(other.attemptId)).toEqual([]);
  });

  it('wants the token of an attempt', async () => {
    const gateway = await started({ serve: {} });
    const url = `${gateway.server.url}/agl/v1/rewards`;
    expect((await post(url, { value: 1 })).status).toBe(403);
    const { token, attemptId } = await gateway.attempt();
    await gateway.sessions.close(attemptId);
    expect((await post(url, { value: 1 }, { 'x-api-key': token })).status).toBe(401);
  });
});
