import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  addedText,
  expectExact,
  type RecordedConversation,
  sampleText,
  startConversation,
  toolCallText,
} from './testing/recorded-conversation.ts';

const tools: Anthropic.Tool[] = [{ name: 'calculate', input_schema: { type: 'object', properties: {} } }];
const toolAnswers = [`Let me see.\n${toolCallText}`, 'It is 42.'];
const toolPrompt = '\n<|im_start|>tool\n42<|im_end|>\n<|im_start|>assistant\n';
const plain: Anthropic.MessageCreateParamsNonStreaming = {
  model: 'policy',
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Hi' }],
};

let talk: RecordedConversation;
afterEach(() => talk.gateway.close());

async function anthropic(texts: string[]): Promise<Anthropic> {
  talk = await startConversation(texts);
  return clientAt('');
}

function clientAt(path: string): Anthropic {
  return new Anthropic({ apiKey: talk.attempt.token, baseURL: `${talk.url}${path}`, maxRetries: 0 });
}

describe('the @anthropic-ai/sdk package', () => {
  it('lists the models', async () => {
    const client = await anthropic([]);
    const listed = { id: 'policy', type: 'model', display_name: 'policy' };
    expect(await client.models.list()).toMatchObject({ data: [listed], has_more: false, last_id: 'policy' });
    expect(await client.models.retrieve('policy')).toMatchObject(listed);
    await expect(client.models.retrieve('other')).rejects.toMatchObject({
      status: 404,
      error: { type: 'error', error: { type: 'not_found_error' } },
    });
  });

  it('holds a plain conversation, recorded token by token', async () => {
    const texts = [sampleText, 'Yes.'];
    const client = await anthropic(texts);
    const system: Anthropic.TextBlockParam[] = [
      { type: 'text', text: 'Be', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: ' kind.' },
    ];
    const first = await client.messages.create({ ...plain, model: 'claude-opus-4', system });
    expect(first).toMatchObject({
      ...{ type: 'message', role: 'assistant', model: 'policy', stop_reason: 'end_turn' },
      content: [{ type: 'text', text: sampleText }],
    });
    const thought = { type: 'thinking' as const, thinking: 'hm', signature: 'x' };
    await client.messages.create({
      ...{ ...plain, system: 'Be kind.', thinking: { type: 'enabled', budget_tokens: 1024 } },
      messages: [
        ...plain.messages,
        { role: 'assistant', content: [thought, ...first.content] },
        { role: 'user', content: [{ type: 'text', text: 'Sure?' }] },
      ],
    });
    const calls = await talk.calls();
    expectExact(calls, texts);
    expect(addedText(calls[0], calls[1])).toBe('\n<|im_start|>user\nSure?<|im_end|>\n<|im_start|>assistant\n');
    expect(calls[0]?.response).toEqual(JSON.parse(JSON.stringify(first)));
    expect(calls[0]).toMatchObject({ dialect: 'messages', sampling: { maxTokens: 1000 } });
    expect(calls[0]?.promptIds).toHaveLength(first.usage.input_tokens);
    const count = await client.messages.countTokens({ model: 'policy', system: 'Be kind.', messages: plain.messages });
    expect(count).toEqual({ input_tokens: first.usage.input_tokens });
    expect(await talk.calls()).toHaveLength(2);
  });

  it('streams events that add up to the recorded answer', async () => {
    const client = await anthropic([`${sampleText}${toolCallText}`]);
    const stream = client.messages.stream({ ...plain, tools });
    const types = new Set<string>();
    const deltas: string[] = [];
    const blocks: string[] = [];
    for await (const event of stream) {
      types.add(event.type);
      if (event.type === 'content_block_start') blocks.push(`${event.index} ${event.content_block.type}`);
      if (event.type === 'content_block_stop') blocks.push(`${event.index} ends`);
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') deltas.push(event.delta.text);
    }
    expect(deltas.join('')).toBe(sampleText);
    expect(deltas.length).toBeGreaterThan(10);
    expect(blocks).toEqual(['0 text', '0 ends', '1 tool_use', '1 ends']);
    expect([...types]).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ]);
    const final = await stream.finalMessage();
    expect(final.stop_reason).toBe('tool_use');
    const [call] = await talk.calls();
    expect(final).toMatchObject(call?.response ?? { missing: true });
  });

  it.each([false, true])('uses tools and goes on from the exact ids (streamed: %s)', async (stream) => {
    const client = await anthropic(toolAnswers);
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: '6*7?' }];
    const ask = (): Promise<Anthropic.Message> =>
      stream
        ? client.messages.stream({ ...plain, messages, tools }).finalMessage()
        : client.messages.create({ ...plain, messages, tools });
    const first = await ask();
    const use = first.content.find((block) => block.type === 'tool_use');
    expect(use).toMatchObject({ name: 'calculate', input: { expression: '6*7' } });
    messages.push(
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: use?.id ?? '', content: '42' }] },
    );
    expect((await ask()).content).toMatchObject([{ type: 'text', text: 'It is 42.' }]);
    const calls = await talk.calls();
    expectExact(calls, toolAnswers);
    expect(addedText(calls[0], calls[1])).toBe(toolPrompt);
  });

  it('may use any of the path forms, and either header for its key', async () => {
    const client = await anthropic(['ok']);
    const { token, rolloutId } = talk.attempt;
    for (const path of ['', '/v1', `/rollout/${rolloutId}/attempt/1`, `/rollout/${rolloutId}/attempt/1/v1`]) {
      expect((await clientAt(path).messages.create(plain)).content).toMatchObject([{ text: 'ok' }]);
    }
    await clientAt('/agent/solver').messages.create(plain);
    const asked = (headers: Record<string, string>, path: string) =>
      fetch(`${talk.url}${path}`, {
        ...{ method: 'POST', body: JSON.stringify(plain) },
        headers: { 'content-type': 'application/json', ...headers },
      });
    expect((await asked({ 'x-api-key': token }, '/v1/messages')).status).toBe(200);
    expect((await asked({ authorization: `Bearer ${token}` }, '/messages?beta=true')).status).toBe(200);
    expect(await (await asked({ 'x-api-key': 'sk-none' }, '/v1/messages')).json()).toMatchObject({
      ...{ type: 'error', error: { type: 'authentication_error' } },
    });
    expect((await talk.calls()).map((call) => call.agentName).filter(Boolean)).toEqual(['solver']);
    expect(client).toBeDefined();
  });

  it('is told in its own shape what is wrong', async () => {
    const client = await anthropic(['ok']);
    const create = (body: object) => client.messages.create(body as Anthropic.MessageCreateParamsNonStreaming);
    await expect(
      create({ ...plain, messages: [{ role: 'user', content: [{ type: 'image' }] }] }),
    ).rejects.toMatchObject({
      status: 400,
      error: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: expect.stringContaining('"messages[0].content[0].type"') as string,
        },
      },
    });
    const long = [{ role: 'user' as const, content: 'x'.repeat(5000) }];
    await expect(client.messages.stream({ ...plain, messages: long }).finalMessage()).rejects.toMatchObject({
      status: 400,
    });
  });
});

describe('the ai package with @ai-sdk/anthropic', () => {
  it.each([false, true])('uses tools and goes on from the exact ids (streamed: %s)', async (stream) => {
    await anthropic(toolAnswers);
    const model = createAnthropic({ apiKey: talk.attempt.token, baseURL: `${talk.url}/v1` })('policy');
    const calculate = tool({
      description: 'calculates',
      inputSchema: z.object({ expression: z.string() }),
      execute: ({ expression }) => Promise.resolve(expression === '6*7' ? '42' : 'wrong'),
    });
    const more = { tools: { calculate }, stopWhen: stepCountIs(3), maxOutputTokens: 1000 };
    const request = { model, system: 'Be exact.', prompt: '6*7?', ...more };
    if (stream) {
      let streamed = '';
      for await (const piece of streamText({ ...request, maxRetries: 0 }).textStream) streamed += piece;
      expect(streamed).toBe('Let me see.\nIt is 42.');
    } else {
      expect((await generateText({ ...request, maxRetries: 0 })).text).toBe('It is 42.');
    }
    const calls = await talk.calls();
    expectExact(calls, toolAnswers);
    expect(addedText(calls[0], calls[1])).toBe(toolPrompt);
  });
});
