import SwaggerParser from '@apidevtools/swagger-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storePath, storeStreams, storeVerbs } from '../store/http/verbs.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { describeServer } from './openapi.ts';
import { type StartedGateway, startGateway } from './testing/started-gateway.ts';

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(
    scriptedEngine(() => say('ok')),
    { api: true, adminKey: 'the-admin-key' },
  );
});
afterAll(() => gateway.close());

interface Described {
  paths: Record<string, Record<string, object>>;
}

describe('/openapi.json', () => {
  const read = async () => (await (await fetch(`${gateway.server.url}/openapi.json`)).json()) as Described;

  it('is OpenAPI 3.1 that a validator accepts', async () => {
    await SwaggerParser.validate((await read()) as never);
  });

  it('names paths that exist, and each with the method that it has', async () => {
    const { token } = await gateway.attempt();
    const { paths } = await read();
    const asked = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method, path] as const),
    );
    expect(asked.length).toBeGreaterThan(12);
    for (const [method, path] of asked) {
      const call = method === 'get' ? 'policy' : 'policy:generateContent';
      const url = `${gateway.server.url}${path.replace('{call}', call).replace('{model}', 'policy')}`;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(url, { method, headers, ...(method === 'post' ? { body: '{}' } : {}) });
      const body = await response.text();
      expect(body).not.toContain('There is no');
      expect(response.status).toBeLessThan(500);
    }
  });

  it('has every verb of the store, its things as they travel, and nothing of them where the store is not served', async () => {
    const { paths } = await read();
    for (const [name, { method }] of Object.entries({ ...storeVerbs, ...storeStreams })) {
      expect(Object.keys(paths[storePath(name)]!)).toEqual([method.toLowerCase()]);
    }
    const { post } = paths[storePath('recordCall')] as { post: { requestBody: object } };
    expect(post.requestBody).toMatchObject({
      content: {
        'application/json': {
          schema: {
            properties: {
              call: {
                required: expect.arrayContaining(['id', 'choices']) as string[],
                properties: {
                  request: { type: 'object' },
                  choices: { items: { properties: { tokenIds: { type: 'string', contentEncoding: 'base64' } } } },
                },
              },
            },
          },
        },
      },
    });
    expect(Object.keys(describeServer([]).paths).filter((path) => path.startsWith(storePath('')))).toEqual([]);
  });
});
