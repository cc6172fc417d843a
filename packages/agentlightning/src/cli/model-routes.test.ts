import { afterEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../config/index.ts';
import { type FakeServer, startFakeServer } from '../upstreams/testing/servers/index.ts';
import { Closing } from './closing.ts';
import { openModelRoutes } from './model-routes.ts';

const open: FakeServer[] = [];
const closing = new Closing();
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

function modelsOf(models: object[]) {
  const rest = { agent: { module: 'a' }, tasks: { train: 't' }, grader: 'exact-match', policy: { model: 'm' } };
  return parseConfig({ ...rest, models }, { source: 'agl.config.ts', folder: '/project' }).models;
}

describe('models of the configuration', () => {
  it('become routes, and say what can be trained', async () => {
    const server = await startFakeServer({ apiKey: 'sk-1' });
    open.push(server);
    const models = modelsOf([
      { alias: 'judge', upstream: 'vllm', url: server.url, apiKeyEnv: 'JUDGE_KEY', agentName: 'critic' },
      { alias: 'titles', upstream: 'openai', url: `${server.url}/v1`, model: 'small', recorded: false },
    ]);
    const lines: string[] = [];
    const routes = await openModelRoutes({
      models,
      env: { JUDGE_KEY: 'sk-1' },
      note: (line) => lines.push(line),
      closing,
    });
    expect(
      routes.map(({ alias, agentName, recorded, upstream }) => [alias, agentName, recorded, upstream.modelId]),
    ).toEqual([
      ['judge', 'critic', true, 'test-model'],
      ['titles', undefined, false, 'small'],
    ]);
    expect(lines).toEqual([
      'judge: vllm 0.32.0, the server renders the messages, context 2048 tokens; its calls can be trained on.',
      'titles: an OpenAI-compatible service, the server renders the messages; its calls cannot be trained on: it gives no token ids.',
    ]);
  });

  it('name the variable of a key that is not set', async () => {
    const model = { alias: 'judge', upstream: 'openai', url: 'http://127.0.0.1:9/v1' };
    const wanting = openModelRoutes({
      models: modelsOf([{ ...model, apiKeyEnv: 'JUDGE_KEY' }]),
      env: {},
      note: () => {},
      closing,
    });
    await expect(wanting).rejects.toMatchObject({
      code: 'api_key_missing',
      message: expect.stringContaining('JUDGE_KEY') as string,
    });
  });
});
