import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hermes } from '../upstreams/tool-calls/hermes.ts';
import { type RemoteModel, startRemoteModel } from './testing/remote-model.ts';

const thought = 'é 😀, hm';
const said = 'Let me see.';
const written = '{"a":  1, "b": "二"}';
const answer = `<think>\n${thought}\n</think>\n\n${said} <tool_call>{"name": "add", "arguments": ${written}}</tool_call>`;
const parameters = { type: 'object' as const, properties: { a: { type: 'number' } } };

let remote: RemoteModel;
beforeEach(async () => {
  remote = await startRemoteModel({ script: () => answer }, { formats: { toolCalls: hermes, thinking: true } });
});
afterEach(() => remote.close());

const openai = () =>
  new OpenAI({ apiKey: remote.attempt.token, baseURL: `${remote.gateway.server.url}/v1`, maxRetries: 0 });

describe('thinking, and a call that comes piece by piece', () => {
  it('chat completions: reasoning_content, whole and in deltas', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'add', parameters } }];
    const body = { model: 'remote', messages: [{ role: 'user' as const, content: 'hi' }], tools };
    const whole = await openai().chat.completions.create(body);
    expect(whole.choices[0]?.message).toMatchObject({
      ...{ content: `${said} `, reasoning_content: thought },
      tool_calls: [{ function: { name: 'add', arguments: written } }],
    });
    const read = { reasoning: '', content: '', name: '', arguments: '', pieces: 0 };
    for await (const { choices } of await openai().chat.completions.create({ ...body, stream: true })) {
      const delta = choices[0]?.delta as OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string };
      const call = delta.tool_calls?.[0]?.function;
      read.reasoning += delta.reasoning_content ?? '';
      read.content += delta.content ?? '';
      read.name += call?.name ?? '';
      read.arguments += call?.arguments ?? '';
      if (call?.arguments) read.pieces += 1;
    }
    expect(read).toMatchObject({ reasoning: thought, content: `${said} `, name: 'add', arguments: written });
    expect(read.pieces).toBeGreaterThan(2);
  });

  it('responses: a reasoning item, a message and a call, put together by the client as the server has them', async () => {
    const tools = [{ type: 'function' as const, name: 'add', parameters, strict: false }];
    const stream = openai().responses.stream({ model: 'remote', input: 'hi', tools });
    const deltas: string[] = [];
    stream.on('response.function_call_arguments.delta', ({ delta }) => void deltas.push(delta));
    const { output } = await stream.finalResponse();
    const whole = await openai().responses.create({ model: 'remote', input: 'hi', tools });
    for (const items of [output, whole.output]) {
      expect(items).toMatchObject([
        { type: 'reasoning', content: [{ type: 'reasoning_text', text: thought }] },
        { type: 'message', content: [{ type: 'output_text', text: `${said} ` }] },
        { type: 'function_call', name: 'add', arguments: written },
      ]);
    }
    expect(deltas.join('')).toBe(written);
    expect(deltas.length).toBeGreaterThan(2);
  });

  it('messages: thinking, text and tool_use blocks', async () => {
    const { token } = remote.attempt;
    const client = new Anthropic({ apiKey: token, baseURL: remote.gateway.server.url, maxRetries: 0 });
    const tools = [{ name: 'add', input_schema: parameters }];
    const body = { model: 'remote', max_tokens: 500, messages: [{ role: 'user' as const, content: 'hi' }], tools };
    const streamed = await client.messages.stream(body).finalMessage();
    const whole = await client.messages.create(body);
    for (const { content } of [streamed, whole]) {
      expect(content).toMatchObject([
        { type: 'thinking', thinking: thought },
        { type: 'text', text: `${said} ` },
        { type: 'tool_use', name: 'add', input: JSON.parse(written) as object },
      ]);
    }
  });

  it('gemini: parts with "thought"', async () => {
    const { token } = remote.attempt;
    const client = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: remote.gateway.server.url } });
    const config = { tools: [{ functionDeclarations: [{ name: 'add', parametersJsonSchema: parameters }] }] };
    const stream = await client.models.generateContentStream({ model: 'remote', contents: 'hi', config });
    const read = { thought: '', text: '', calls: [] as unknown[] };
    for await (const { candidates } of stream) {
      for (const part of candidates?.[0]?.content?.parts ?? []) {
        if (part.functionCall) read.calls.push(part.functionCall.args);
        else if (part.thought) read.thought += part.text ?? '';
        else read.text += part.text ?? '';
      }
    }
    expect(read).toEqual({ thought, text: `${said} `, calls: [JSON.parse(written)] });
  });

  it('is recorded as it was sampled', async () => {
    await openai().responses.create({
      model: 'remote',
      input: 'hi',
      tools: [{ type: 'function', name: 'add', parameters, strict: false }],
    });
    const [call] = await remote.gateway.store.listCalls(remote.attempt.attemptId);
    expect(call).toMatchObject({ untrainable: null, choices: [{ text: answer, finishReason: 'tool_calls' }] });
    expect([...(call?.choices[0]?.tokenIds ?? [])]).toEqual(remote.model.requests[0]?.answers[0]?.ids);
  });
});
