import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { createOpenAiUpstream } from '../upstreams/index.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type StartedGateway, startGateway } from './testing/started-gateway.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function started(...settings: Parameters<typeof startGateway>): Promise<StartedGateway> {
  const gateway = await startGateway(...settings);
  closers.unshift(() => gateway.close());
  return gateway;
}

describe('a frozen model behind another service', () => {
  it('answers as it likes, recorded and not trained on', async () => {
    const text = 'Fine.<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>';
    const engine = scriptedEngine(() => say(text));
    // Our own server is the service: it speaks the protocol.
    const service = await started(engine, { serve: {} });
    const judge = createOpenAiUpstream({ name: 'judge', baseUrl: `${service.server.url}/v1`, modelId: 'policy' });
    const policyEngine = scriptedEngine(() => say('unused'));
    const gateway = await started(policyEngine, { routes: [{ alias: 'big', upstream: judge, agentName: 'critic' }] });
    const attempt = await gateway.attempt();
    const client = new OpenAI({ apiKey: attempt.token, baseURL: `${gateway.server.url}/v1`, maxRetries: 0 });
    const tools = [{ type: 'function' as const, function: { name: 'add' } }];
    const request = { model: 'big', messages: [{ role: 'user' as const, content: 'hi' }], temperature: 0, n: 2, tools };

    const answer = await client.chat.completions.create(request);
    expect(answer.choices.map((choice) => choice.message.content)).toEqual(['Fine.', 'Fine.']);
    expect(answer.choices[1]?.message.tool_calls).toMatchObject([{ function: { name: 'add', arguments: '{"a": 1}' } }]);
    expect(answer.usage?.completion_tokens).toBe(2 * say(text).length);
    expect(engine.requests[0]?.temperature).toBe(0);
    expect(policyEngine.requests).toEqual([]);
    const [call] = await gateway.store.listCalls(attempt.attemptId);
    expect(call).toMatchObject({
      ...{ model: 'big', policy: null, agentName: 'critic', promptIds: null, overridden: {} },
      untrainable: 'missing_token_ids',
    });
    expect(call?.choices.map((choice) => choice.text)).toEqual(['Fine.', 'Fine.']);
  });

  it('leaves no record where its route keeps none', async () => {
    const service = await started(
      scriptedEngine(() => say('A title')),
      { serve: {} },
    );
    const upstream = createOpenAiUpstream({ name: 'titles', baseUrl: `${service.server.url}/v1`, modelId: 'policy' });
    const routes = [{ alias: 'titles', upstream, recorded: false }];
    const gateway = await started(
      scriptedEngine(() => []),
      { routes },
    );
    const attempt = await gateway.attempt();
    const client = new OpenAI({ apiKey: attempt.token, baseURL: `${gateway.server.url}/v1`, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'hi' }];
    const answer = await client.chat.completions.create({ model: 'titles', messages });
    expect(answer.choices[0]?.message.content).toBe('A title');
    expect(await gateway.store.listCalls(attempt.attemptId)).toEqual([]);
  });
});
