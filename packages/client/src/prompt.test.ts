import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getPrompt } from './index.ts';

const prompt = {
  name: 'solver',
  version: 3,
  template: 'Solve {{ question }}: {x} {{question}}',
  placeholders: ['question'],
};
const requests: { url: string | undefined; key: string | undefined }[] = [];
/** Of the next answers; then 200. */
let statuses: number[] = [];
const server = createServer(({ url, headers }, response) => {
  requests.push({ url, key: headers.authorization });
  response.statusCode = statuses.shift() ?? 200;
  response.end(response.statusCode === 200 ? JSON.stringify(prompt) : '{"title":"no"}');
});
const variables = ['AGL_ENDPOINT', 'AGL_KEY', 'AGL_ATTEMPT_ID', 'AGL_ROLLOUT_ID'];

beforeEach(async () => {
  requests.length = 0;
  statuses = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const name of variables) process.env[name] = 'agl-key';
  process.env.AGL_ENDPOINT = endpoint;
});
afterEach(async () => {
  for (const name of variables) delete process.env[name];
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

describe('getPrompt', () => {
  it('reads the version of the attempt with its key, and fills its places', async () => {
    const { render, ...got } = await getPrompt('solver', { fallback: 'unused' });
    expect(got).toEqual(prompt);
    expect(requests).toEqual([{ url: '/agl/v1/prompts/solver', key: 'Bearer agl-key' }]);
    expect(render({ question: '$& {{question}}' })).toBe('Solve $& {{question}}: {x} $& {{question}}');
    expect(() => render()).toThrow(expect.objectContaining({ code: 'prompt_value_missing' }));
    expect(() => render({ question: '', more: '' })).toThrow(expect.objectContaining({ code: 'prompt_value_unknown' }));
  });

  it('asks again when the server is busy', async () => {
    statuses = [503];
    expect((await getPrompt('a/b')).version).toBe(3);
    expect(requests.map(({ url }) => url)).toEqual(Array(2).fill('/agl/v1/prompts/a%2Fb'));
  });

  it.each([
    [404, 'prompt_not_found'],
    [401, 'prompt_unavailable'],
  ])('never goes on with the fallback within a run (%d)', async (status, code) => {
    statuses = [status];
    await expect(getPrompt('solver', { fallback: 'x' })).rejects.toMatchObject({ name: 'PromptError', code });
    expect(requests).toHaveLength(1);
  });

  it('is the fallback outside of a run, and an error without one', async () => {
    delete process.env.AGL_ATTEMPT_ID;
    const { render, ...got } = await getPrompt('solver', { fallback: 'Solve {{q}}' });
    expect(got).toEqual({ name: 'solver', version: null, template: 'Solve {{q}}', placeholders: ['q'] });
    expect(render({ q: '1' })).toBe('Solve 1');
    await expect(getPrompt('solver')).rejects.toMatchObject({ code: 'prompt_outside_of_run' });
    expect(requests).toEqual([]);
  });
});
