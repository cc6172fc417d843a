import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { createOpenAiUpstream } from '../upstreams/index.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type StartedGateway, startGateway } from './testing/started-gateway.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A gateway whose model "big" is behind another service, which is our own server. */
async function frozen(...engine: Parameters<typeof scriptedEngine>): Promise<StartedGateway & { token: string }> {
  const service = await startGateway(scriptedEngine(...engine), { serve: {} });
  const upstream = createOpenAiUpstream({ name: 'judge', baseUrl: `${service.server.url}/v1`, modelId: 'policy' });
  const gateway = await startGateway(
    scriptedEngine(() => say('unused')),
    { routes: [{ alias: 'big', upstream }] },
  );
  closers.push(gateway.close, service.close);
  return { ...gateway, token: (await gateway.attempt()).token };
}

const input = 'Hi';
const messages = [{ role: 'user' as const, content: 'Hi' }];

describe('a frozen model', () => {
  it('is reached by every protocol that has messages', async () => {
    const { server, token } = await frozen(() => say('Fine.'));
    const openAi = new OpenAI({ apiKey: token, baseURL: `${server.url}/v1`, maxRetries: 0 });
    const anthropic = new Anthropic({ apiKey: token, baseURL: server.url, maxRetries: 0 });
    const google = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: server.url } });
    const response = await openAi.responses.create({ model: 'big', input });
    expect([response.output_text, response.usage?.output_tokens]).toEqual(['Fine.', say('Fine.').length]);
    const message = await anthropic.messages.stream({ model: 'big', max_tokens: 99, messages }).finalMessage();
    expect(message).toMatchObject({ content: [{ text: 'Fine.' }], usage: { output_tokens: say('Fine.').length } });
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    expect((await google.models.generateContent({ model: 'big', contents: input })).text).toBe('Fine.');

    await expect(anthropic.messages.countTokens({ model: 'big', messages })).rejects.toMatchObject({ status: 404 });
    await expect(openAi.completions.create({ model: 'big', prompt: 'Hi' })).rejects.toMatchObject({
      ...{ status: 400, code: 'raw_prompt_unsupported' },
    });
  });
});

describe('a stream that breaks', () => {
  const broken: Parameters<typeof startGateway>[0] = scriptedEngine(() => say('It is'), {
    beforeToken: (index) => (index < 4 ? Promise.resolve() : Promise.reject(new Error('no memory'))),
  });

  it('is an error to every client, and recorded as it was', async () => {
    const gateway = await startGateway(broken);
    closers.push(gateway.close);
    const { token, attemptId } = await gateway.attempt();
    const { url } = gateway.server;
    const openAi = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 });
    const anthropic = new Anthropic({ apiKey: token, baseURL: url, maxRetries: 0 });
    const google = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: url } });
    const seen: string[] = [];
    const responding = async () => {
      for await (const event of await openAi.responses.create({ model: 'policy', input, stream: true })) {
        seen.push(event.type);
      }
    };
    await expect(responding()).rejects.toMatchObject({ code: 'engine_failed' });
    expect(seen.at(-1)).toBe('response.failed');
    await expect(
      anthropic.messages.stream({ model: 'policy', max_tokens: 99, messages }).finalMessage(),
    ).rejects.toMatchObject({ type: 'api_error' });
    const completing = async () => {
      for await (const _ of await openAi.completions.create({ model: 'policy', prompt: 'Hi', stream: true }));
    };
    await expect(completing()).rejects.toMatchObject({ code: 'engine_failed' });
    const generating = async () => {
      for await (const _ of await google.models.generateContentStream({ model: 'policy', contents: input }));
    };
    await expect(generating()).rejects.toThrow('engine_failed');
    const calls = await gateway.store.listCalls(attemptId);
    expect(calls.map((call) => [call.untrainable, call.choices[0]?.tokenIds.length])).toEqual(
      Array.from({ length: 4 }, () => ['broken_stream', 4]),
    );
  });
});
