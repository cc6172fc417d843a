import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BasicTracerProvider, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../store/errors.ts';
import { listNamedCalls } from '../tracing/index.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type OpenAttempt, type StartedGateway, startGateway } from './testing/started-gateway.ts';

let gateway: StartedGateway;
let own: OpenAttempt;
beforeEach(async () => {
  gateway = await startGateway(scriptedEngine(() => say('ok')));
  own = await gateway.attempt();
});
afterEach(() => gateway.close());

const start = '1700000000000250000';

function spanOf(spanId: string, change: object = {}) {
  return { traceId: 'AB'.repeat(16), spanId, name: 'work', startTimeUnixNano: start, ...change };
}

function traces(...spans: object[]): string {
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

function evaluation(name: string, value: object) {
  const attributes = [
    { key: 'gen_ai.evaluation.name', value: { stringValue: name } },
    { key: 'gen_ai.evaluation.score.value', value },
  ];
  return { name: 'gen_ai.evaluation.result', timeUnixNano: start, attributes };
}

function send(path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${own.token}`, ...headers },
    body,
  });
}

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { promise, resolve, reject };
}

const rewards = () => gateway.store.listRewards(own.attemptId);
const spans = () => gateway.store.listSpans(own.attemptId);

describe('the OTLP receiver', () => {
  it.each<[string, (options: object) => SpanExporter]>([
    ['protobuf', (options) => new ProtobufExporter(options)],
    ['protobuf, gzip', (options) => new ProtobufExporter({ ...options, compression: 'gzip' } as object)],
    ['JSON', (options) => new JsonExporter(options)],
  ])('keeps what an official exporter sends, with its rewards: %s', async (_, create) => {
    const headers = { authorization: `Bearer ${own.token}` };
    const exporter = create({ url: `${gateway.server.url}/v1/traces`, headers });
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const tracer = provider.getTracer('test-tracer');
    const parent = tracer.startSpan('parent', { kind: 2, startTime: 1_700_000_000_000.25 });
    const child = tracer.startSpan('child ü', {}, trace.setSpan(ROOT_CONTEXT, parent));
    child.setAttributes({ text: '', list: [1, 2.5], flag: false, large: 2 ** 40 });
    child.addEvent('gen_ai.evaluation.result', {
      'gen_ai.evaluation.name': 'correct',
      'gen_ai.evaluation.score.value': 0.25,
    });
    child.setStatus({ code: 2, message: 'bad' });
    child.end();
    parent.end();
    await provider.forceFlush();

    const kept = await spans();
    const { spanId, traceId } = parent.spanContext();
    expect(kept.find(({ name }) => name === 'parent')).toMatchObject({
      traceId,
      spanId,
      parentSpanId: null,
      kind: 'client',
      startedAt: 1_700_000_000_000.25,
      status: 'unset',
      scope: 'test-tracer',
    });
    expect(kept.find(({ name }) => name === 'child ü')).toMatchObject({
      parentSpanId: spanId,
      kind: 'internal',
      status: 'error',
      statusMessage: 'bad',
      attributes: { text: '', list: [1, 2.5], flag: false, large: 2 ** 40 },
      events: [{ name: 'gen_ai.evaluation.result' }],
    });
    expect(await rewards()).toMatchObject([{ name: 'correct', value: 0.25, source: 'agent', callId: null }]);
    await provider.shutdown();
  });

  it('counts a span and its rewards once, in any of the path forms', async () => {
    const body = traces(spanOf('1'.repeat(16), { events: [evaluation('reward', { doubleValue: 1 })] }));
    const forms = ['', `/rollout/${own.rolloutId}/attempt/1`, `/rollout/${own.rolloutId}/attempt/${own.attemptId}`];
    for (const form of forms) {
      const answer = await send(`${form}/v1/traces`, body);
      expect([answer.status, await answer.json()]).toEqual([200, {}]);
    }
    expect(await spans()).toMatchObject([{ traceId: 'ab'.repeat(16), startedAt: 1_700_000_000_000.25 }]);
    expect(await rewards()).toMatchObject([{ name: 'reward', value: 1 }]);
  });

  it.each<[string, object[], string]>([
    ['a short id', [spanOf('12')], '"spanId" must have 8 bytes in hexadecimal, not "12"'],
    ['an id of zeros', [spanOf('0'.repeat(16))], '"spanId" is missing'],
    ['no time', [spanOf('2'.repeat(16), { startTimeUnixNano: 'noon' })], '"startTimeUnixNano" must be a whole number'],
    ['no object', [7 as unknown as object], 'must be an object'],
    [
      'a NaN reward',
      [spanOf('2'.repeat(16), { events: [evaluation('style', { doubleValue: 'NaN' })] })],
      'reward "style" is "NaN"; a finite number was expected',
    ],
    [
      'a reward that is true',
      [spanOf('2'.repeat(16), { events: [evaluation('style', { boolValue: true })] })],
      'reward "style" is true; a finite number was expected',
    ],
  ])('refuses %s by name and keeps the neighbours', async (_, bad, message) => {
    const good = spanOf('3'.repeat(16), { events: [evaluation('reward', { doubleValue: 0.5 })] });
    const answer = await send('/v1/traces', traces(...bad, good));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining(message) as string },
    });
    expect(await spans()).toMatchObject([{ spanId: '3'.repeat(16) }]);
    expect(await rewards()).toMatchObject([{ value: 0.5 }]);
  });

  it.each<[string, string | Uint8Array, Record<string, string>, number, string]>([
    ['JSON cut short', '{"resourceSpans": [', {}, 400, 'invalid_json'],
    ['a list', '[]', {}, 400, 'invalid_json'],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22), {}, 400, 'invalid_utf8'],
    ['what is no gzip', 'x', { 'content-encoding': 'gzip' }, 400, 'invalid_gzip'],
    ['another encoding', 'x', { 'content-encoding': 'br' }, 415, 'unsupported_content_encoding'],
    ['another type', 'x', { 'content-type': 'text/plain' }, 415, 'unsupported_content_type'],
    ['too much inside of gzip', gzipSync(' '.repeat(33 << 20)), { 'content-encoding': 'gzip' }, 413, 'body_too_large'],
  ])('refuses %s as a whole', async (_, body, headers, status, code) => {
    const answer = await send('/v1/traces', body, headers);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code: 3, message: expect.stringMatching(`^${code}: `) as string });
  });

  it.each(['/v1/traces', '/v1/logs', '/agl/v1/rewards'])(
    '%s refuses a body of 50 MiB before it was sent',
    async (path) => {
      const { promise, resolve, reject } = deferred<[number | undefined, string]>();
      const headers = {
        authorization: `Bearer ${own.token}`,
        'content-type': 'application/json',
        'content-length': 50 << 20,
      };
      const open = httpRequest(`${gateway.server.url}${path}`, { method: 'POST', headers });
      open
        .on('response', (answer) => {
          answer.on('data', (text: Buffer) => resolve([answer.statusCode, String(text)]));
        })
        .on('error', reject);
      open.flushHeaders();
      expect(await promise).toEqual([413, expect.stringContaining('body_too_large')]);
      open.destroy();
    },
  );

  it('keeps spans of a clock that is a day off, and marks them', async () => {
    const nanos = (milliseconds: number) => `${milliseconds}000000`;
    const day = 24 * 60 * 60 * 1000;
    const time = Date.now() - day;
    const body = traces(
      spanOf('1'.repeat(16), { startTimeUnixNano: nanos(time), endTimeUnixNano: nanos(time) }),
      spanOf('2'.repeat(16), { startTimeUnixNano: nanos(time + day), endTimeUnixNano: nanos(time + day) }),
    );
    expect(await (await send('/v1/traces', body)).json()).toEqual({});
    const [late, now] = await spans();
    expect(late?.attributes['agentlightning.clock_skew_ms']).toBeLessThan(-day / 2);
    expect(now?.attributes).toEqual({});
  });

  it('answers malformed protobuf in protobuf', async () => {
    const answer = await send('/v1/traces', Uint8Array.of(0x0a, 0xff, 0xff), {
      'content-type': 'application/x-protobuf',
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/x-protobuf']);
    expect(await answer.text()).toContain('invalid_protobuf');
  });

  it('takes evaluations that come as log records, once, and metrics of no use', async () => {
    const { name, ...record } = evaluation('reward', { doubleValue: -1 });
    const full = {
      ...record,
      eventName: name,
      body: { stringValue: 'why' },
      spanId: '4'.repeat(16),
      traceId: 'ab'.repeat(16),
    };
    const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [full] }] }] });
    for (let time = 0; time < 2; time += 1) expect(await (await send('/v1/logs', body)).json()).toEqual({});
    expect(await rewards()).toMatchObject([{ name: 'reward', value: -1 }]);
    expect(await spans()).toMatchObject([
      { kind: 'log', parentSpanId: '4'.repeat(16), attributes: { 'log.body': 'why' } },
    ]);
    expect((await send('/v1/metrics', '{}')).status).toBe(200);
  });

  it('gives a reward to the call whose answer it names, and to nobody when there is none', async () => {
    const chat = { model: 'policy', messages: [{ role: 'user', content: 'hi' }] };
    const { id } = (await (await send('/v1/chat/completions', JSON.stringify(chat))).json()) as { id: string };
    const rewardFor = (response: string) => {
      const event = evaluation('step', { doubleValue: 1 });
      const attributes = [...event.attributes, { key: 'gen_ai.response.id', value: { stringValue: response } }];
      return { ...event, attributes };
    };
    const spanFor = (spanId: string, response: string) => spanOf(spanId, { events: [rewardFor(response)] });
    const answer = await send('/v1/traces', traces(spanFor('1'.repeat(16), id), spanFor('2'.repeat(16), 'other')));
    expect(await answer.json()).toEqual({
      partialSuccess: { rejectedSpans: '0', errorMessage: expect.stringContaining('response "other"') as string },
    });
    const [call] = await gateway.store.listCalls(own.attemptId);
    expect(await rewards()).toMatchObject([{ name: 'step', callId: call?.id }]);
    expect(await spans()).toHaveLength(2);
  });

  it('lets spans name the agent of a call, beside the record', async () => {
    const chat = { model: 'policy', messages: [{ role: 'user', content: 'hi' }] };
    const { id } = (await (await send('/v1/chat/completions', JSON.stringify(chat))).json()) as { id: string };
    const attributes = Object.entries({
      'gen_ai.operation.name': 'chat',
      'gen_ai.response.id': id,
      'gen_ai.agent.name': 'writer',
    }).map(([key, stringValue]) => ({ key, value: { stringValue } }));
    await send('/v1/traces', traces(spanOf('1'.repeat(16), { attributes })));
    expect(await gateway.store.listCalls(own.attemptId)).toMatchObject([{ agentName: null }]);
    expect(await listNamedCalls(gateway.store, own.attemptId)).toMatchObject([{ agentName: 'writer' }]);
  });

  it('wants the token of a live attempt', async () => {
    const other = await gateway.attempt();
    const foreign = `/rollout/${other.rolloutId}/attempt/1/v1/traces`;
    expect((await send(foreign, traces())).status).toBe(403);
    expect((await send('/rollout/unknown/attempt/1/v1/traces', traces())).status).toBe(403);
    await gateway.sessions.close(own.attemptId);
    const late = await send('/v1/traces', traces(spanOf('1'.repeat(16))));
    expect([late.status, await late.json()]).toMatchObject([
      401,
      { message: expect.stringContaining('attempt_ended') },
    ]);
    expect(await gateway.store.listSpans(other.attemptId)).toEqual([]);
    expect(await spans()).toEqual([]);
  });

  it('does not acknowledge what the store could not keep', async () => {
    await gateway.close();
    const full = new StoreError({ code: 'disk_full', message: 'The disk is full.' });
    const fail = () => Promise.reject(full);
    const reading = { getAttempt: fail, getResource: fail, latestResources: fail };
    const store = { recordCall: fail, listCalls: fail, addReward: fail, addSpans: fail, ...reading };
    gateway = await startGateway(
      scriptedEngine(() => []),
      { store },
    );
    own = await gateway.attempt();
    expect((await send('/v1/traces', traces(spanOf('1'.repeat(16))))).status).toBe(503);
    expect(gateway.fatal).toEqual([full]);
  });
});

describe('a reward or event that cannot be read', () => {
  it.each<[string, string | Uint8Array, string, number, string]>([
    ['JSON cut short', '{"value": 1', 'application/json', 400, 'is not JSON'],
    ['NaN, which JSON has not', '{"value": NaN}', 'application/json', 400, 'is not JSON'],
    ['a name that is not UTF-8', Buffer.from('{"value":1,"name":"\xff"}', 'latin1'), 'application/json', 400, 'UTF-8'],
    ['another content type', '{"value": 1}', 'text/plain', 415, 'Unsupported Media Type'],
  ])('%s is refused, saying so', async (_, body, type, status, words) => {
    for (const path of ['/agl/v1/rewards', `/api/rollouts/${own.rolloutId}/attempt/1/events`]) {
      const answer = await send(path, body, { 'content-type': type });
      expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(words)]);
    }
    expect(await rewards()).toEqual([]);
    expect(gateway.fatal).toEqual([]);
  });
});

describe("the event URL of the Python project's 1.0", () => {
  it('takes rewards and other events of its own attempt', async () => {
    const path = `/api/rollouts/${own.rolloutId}/attempt/1/events`;
    const give = (body: unknown) => send(path, JSON.stringify(body));
    expect((await give({ event_type: 'reward', data: { value: 0.95 } })).status).toBe(201);
    expect((await give({ event_type: 'reward', data: { value: 0.95 } })).status).toBe(201);
    expect((await give({ event_type: 'note', data: { text: 'x' } })).status).toBe(201);
    for (const value of [true, 'NaN', null]) {
      const answer = await give({ event_type: 'reward', data: { value } });
      expect(answer.status).toBe(400);
      expect(JSON.stringify(await answer.json())).toContain('data.value');
    }
    expect(await rewards()).toMatchObject([{ name: 'reward', value: 0.95, source: 'agent' }, { value: 0.95 }]);
    expect((await spans()).map(({ name }) => name)).toEqual(['reward', 'reward', 'note']);
    const other = await gateway.attempt();
    expect((await send(path.replace(own.rolloutId, other.rolloutId), '{"event_type":"x"}')).status).toBe(403);
  });
});
