import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { rawHttp } from './testing/raw-http.ts';
import { type StartedGateway, startGateway } from './testing/started-gateway.ts';

/** Set AGL_FUZZ_REQUESTS=100000 for a long run. */
const requests = Number(process.env.AGL_FUZZ_REQUESTS ?? 1500);
/** At the same time, so that requests meet each other. */
const together = 10;

let gateway: StartedGateway;
let token: string;
beforeAll(async () => {
  gateway = await startGateway(scriptedEngine(() => say('ok')));
  token = (await gateway.attempt({ mode: 'validation' })).token;
});
afterAll(() => gateway.close());

const paths = [
  ...['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens'],
  ...['/v1beta/models/policy:generateContent', '/v1beta/models/policy:streamGenerateContent?alt=sse', '/v1/models'],
  ...[
    '/v1/models/policy',
    '/agl/v1/rewards',
    '/v1/traces',
    '/v1/logs',
    '/v1/metrics',
    '/healthz',
    '/readyz',
    '/metrics',
  ],
  ...[
    '/rollout/rollout-1/attempt/1/v1/chat/completions',
    '/api/rollouts/rollout-1/attempt/1/events',
    '/agent/a/v1/messages',
  ],
];
const bodies = [
  '{"model":"policy","messages":[{"role":"user","content":"hi"}]}',
  '{"model":"policy","messages":[{"role":"user","content":"hi"}],"stream":true,"max_tokens":4}',
  '{"model":"policy","input":"hi","previous_response_id":"resp_x"}',
  '{"model":"policy","prompt":[1,2,3],"n":2}',
  '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}',
  '{"name":"reward","value":1}',
  '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"abababababababababababababababab","spanId":"cdcdcdcdcdcdcdcd","name":"x"}]}]}]}',
];

/** A good body with a piece cut out, repeated, or replaced. */
const mutated = fc
  .tuple(
    fc.constantFrom(...bodies),
    fc.nat(300),
    fc.nat(40),
    fc.oneof(
      fc.constant(''),
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom('null', '-1', '1e999', '[]', '{}', '"', '\\u0000', '\ud800'),
    ),
  )
  .map(
    ([body, at, length, piece]) => body.slice(0, at % body.length) + piece + body.slice((at % body.length) + length),
  );

const request = fc.record({
  method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'PUT', 'OPTIONS', 'HEAD'),
  path: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...paths) },
    fc.webPath(),
    fc.string({ maxLength: 30 }).map((text) => `/${encodeURIComponent(text)}`),
  ),
  type: fc.constantFrom(
    'application/json',
    'application/json; charset=utf-8',
    'application/x-protobuf',
    'text/plain',
    'multipart/form-data; boundary=x',
    '',
  ),
  encoding: fc.constantFrom('', '', '', 'gzip', 'br', 'identity', 'junk'),
  key: fc.constantFrom('good', 'good', 'good', 'wrong', 'none'),
  agent: fc.oneof(fc.constant(''), fc.string({ maxLength: 20 })),
  body: fc.oneof({ weight: 4, arbitrary: mutated }, fc.json(), fc.string({ unit: 'binary', maxLength: 50 })),
});

it('answers every request with its protocol, never with 5xx, and goes on', async () => {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: together, maxLength: together }), async (batch) => {
      const answers = await Promise.all(
        batch.map(({ method, path, type, encoding, key, agent, body }) => {
          const bytes = Buffer.from(body);
          const head = [
            `${method} ${path} HTTP/1.1`,
            'host: localhost',
            'connection: close',
            ...(type === '' ? [] : [`content-type: ${type}`]),
            ...(encoding === '' ? [] : [`content-encoding: ${encoding}`]),
            ...(key === 'none' ? [] : [`authorization: Bearer ${key === 'good' ? token : 'agl-wrong'}`]),
            ...(/^[\x20-\x7e]+$/.test(agent) ? [`x-agl-agent: ${agent}`] : []),
            `content-length: ${bytes.length}`,
          ];
          return rawHttp(
            gateway.server.url,
            `${head.join('\r\n')}\r\n\r\n${bytes.toString('latin1')}`,
            20_000,
            'latin1',
          );
        }),
      );
      for (const answer of answers) {
        const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
      }
    }),
    { numRuns: Math.ceil(requests / together), endOnFailure: true },
  );
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 404]));
  expect(gateway.fatal).toEqual([]);
  expect((await fetch(`${gateway.server.url}/healthz`)).status).toBe(200);
}, 3_600_000);
