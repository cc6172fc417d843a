import SwaggerParser from '@apidevtools/swagger-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type StartedGateway, startGateway } from './testing/started-gateway.ts';

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(scriptedEngine(() => say('ok')));
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
      const url = `${gateway.server.url}${path.replace('{call}', 'policy:generateContent')}`;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(url, { method, headers, ...(method === 'post' ? { body: '{}' } : {}) });
      const body = await response.text();
      expect(body).not.toContain('There is no');
      expect(response.status).toBeLessThan(500);
    }
  });
});
