import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import OpenAI from 'openai';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createOpenAiUpstream } from '../upstreams/index.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type OpenAttempt, type StartedGateway, startGateway } from './testing/started-gateway.ts';

let service: Server;
let asked: { path: string | undefined; body: unknown; key: string | undefined }[];
let gateway: StartedGateway;
let attempt: OpenAttempt;
beforeEach(async () => {
  asked = [];
  service = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push({ path: request.url, body: JSON.parse(body), key: request.headers.authorization });
      const data = [{ object: 'embedding', index: 0, embedding: [0.25, -1] }];
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ object: 'list', data, model: 'm-1', usage: { prompt_tokens: 1, total_tokens: 1 } }),
      );
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => service.once('listening', resolve));
  const baseUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`;
  const upstream = createOpenAiUpstream({ name: 'embedder', baseUrl, modelId: 'm-1', apiKey: 'service-key' });
  gateway = await startGateway(
    scriptedEngine(() => say('ok')),
    { routes: [{ alias: 'embedder', upstream }] },
  );
  attempt = await gateway.attempt();
});
afterEach(async () => {
  await gateway.close();
  service.close();
});

it("passes on, with the service's key and model name, and records nothing", async () => {
  const client = new OpenAI({ baseURL: `${gateway.server.url}/v1`, apiKey: attempt.token });
  const answer = await client.embeddings.create({
    model: 'embedder',
    input: 'hi',
    encoding_format: 'float',
    dimensions: 2,
  });
  expect(answer.data[0]?.embedding).toEqual([0.25, -1]);
  expect(answer.model).toBe('embedder');
  expect(asked).toEqual([
    {
      path: '/v1/embeddings',
      key: 'Bearer service-key',
      body: { model: 'm-1', input: 'hi', encoding_format: 'float', dimensions: 2 },
    },
  ]);
  expect(await gateway.store.listCalls(attempt.attemptId)).toEqual([]);
});

it('says of a model that gives none what to do, and answers nobody without a key', async () => {
  const client = new OpenAI({ baseURL: `${gateway.server.url}/v1`, apiKey: attempt.token, maxRetries: 0 });
  await expect(client.embeddings.create({ model: 'policy', input: 'hi' })).rejects.toMatchObject({
    status: 404,
    code: 'no_embeddings',
  });
  const stranger = new OpenAI({ baseURL: `${gateway.server.url}/v1`, apiKey: 'agl-wrong', maxRetries: 0 });
  await expect(stranger.embeddings.create({ model: 'embedder', input: 'hi' })).rejects.toMatchObject({ status: 401 });
  expect(asked).toEqual([]);
});
