import { createOpenAI } from '@ai-sdk/openai';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { tool as aiTool, generateText, stepCountIs, streamText } from 'ai';
import OpenAI from 'openai';
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

const tools: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name: 'calculate', parameters: { type: 'object', properties: {} }, strict: false },
];
const toolAnswers = [`Let me see.\n${toolCallText}`, 'It is 42.'];
const toolPrompt = '\n<|im_start|>tool\n42<|im_end|>\n<|im_start|>assistant\n';
const calculateParameters = z.object({ expression: z.string() });

let talk: RecordedConversation;
afterEach(() => talk.gateway.close());

async function openAi(texts: string[], path = '/v1'): Promise<OpenAI> {
  talk = await startConversation(texts);
  return new OpenAI({ apiKey: talk.attempt.token, baseURL: `${talk.url}${path}`, maxRetries: 0 });
}

describe('the openai package, by responses', () => {
  it('holds a plain conversation by previous_response_id, and the ids go on', async () => {
    const texts = [sampleText, 'Yes.', 'No.'];
    const client = await openAi(texts);
    const first = await client.responses.create({ model: 'gpt-5', input: 'Hi', instructions: 'Be kind.' });
    expect(first).toMatchObject({ status: 'completed', output_text: sampleText, model: 'policy' });
    const more = { model: 'policy', instructions: 'Be kind.' };
    const second = await client.responses.create({ ...more, input: 'Sure?', previous_response_id: first.id });
    await client.responses.create({
      ...more,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Really?' }] }],
      previous_response_id: second.id,
      store: false,
    });
    const calls = await talk.calls();
    expectExact(calls, texts);
    expect(addedText(calls[1], calls[2])).toBe('\n<|im_start|>user\nReally?<|im_end|>\n<|im_start|>assistant\n');
    const { output_text: _, ...wire } = first;
    expect(calls[0]?.response).toEqual(JSON.parse(JSON.stringify(wire)));
    expect(calls[0]).toMatchObject({ dialect: 'responses', overridden: { model: 'gpt-5' } });
  });

  it('streams events that add up to the recorded response', async () => {
    const client = await openAi([`${sampleText}${toolCallText}`]);
    const stream = client.responses.stream({
      ...{ model: 'policy', input: 'Hi', tools, include: ['message.output_text.logprobs'] },
    });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const deltas = events.filter((event) => event.type === 'response.output_text.delta');
    expect(deltas.map(({ delta }) => delta).join('')).toBe(sampleText);
    expect(deltas.every(({ delta }) => !delta.includes('\uFFFD'))).toBe(true);
    expect(deltas.length).toBeGreaterThan(10);
    expect([...new Set(events.map((event) => event.type))]).toEqual([
      ...['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added'],
      ...['response.output_text.delta', 'response.function_call_arguments.delta'],
      ...['response.function_call_arguments.done', 'response.output_item.done', 'response.output_text.done'],
      ...['response.content_part.done', 'response.completed'],
    ]);
    const final = await stream.finalResponse();
    const [call] = await talk.calls();
    expect(final.output).toMatchObject(call?.response?.output as object[]);
    expect(final.id).toBe(`resp_${call?.id}`);
    const message = final.output[0] as OpenAI.Responses.ResponseOutputMessage;
    const part = message.content[0] as OpenAI.Responses.ResponseOutputText;
    expect(part.logprobs?.map(({ logprob }) => logprob)).toEqual(
      [...(call?.choices[0]?.logProbs ?? [])].map((logProb) => logProb + 0), // JSON has no −0
    );
  });

  it('uses tools, by items sent back and by item references', async () => {
    const client = await openAi([...toolAnswers, ...toolAnswers]);
    for (const byReference of [false, true]) {
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: '6*7?' }];
      const first = await client.responses.create({ model: 'policy', input, tools });
      const call = first.output.find((item) => item.type === 'function_call');
      expect(call).toMatchObject({ name: 'calculate', arguments: '{"expression":  "6*7"}' });
      if (byReference) input.push(...first.output.map(({ id }) => ({ type: 'item_reference' as const, id: id ?? '' })));
      else input.push(...(first.output as OpenAI.Responses.ResponseInput));
      input.push({ type: 'function_call_output', call_id: call?.call_id ?? '', output: '42' });
      const second = await client.responses.create({ model: 'policy', input, tools });
      expect(second.output_text).toBe('It is 42.');
      const calls = (await talk.calls()).slice(byReference ? 2 : 0);
      expectExact(calls, toolAnswers);
      expect(addedText(calls[0], calls[1])).toBe(toolPrompt);
    }
  });

  it('is told of an answer that was cut, whole and streamed', async () => {
    const client = await openAi(['It is 42.']);
    const request = { model: 'policy', input: 'Hi', max_output_tokens: 3 };
    const whole = await client.responses.create(request);
    expect(whole).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client.responses.create({ ...request, stream: true })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: { status: 'incomplete' } });
  });

  it('may use any of the path forms', async () => {
    await openAi(['ok']);
    const { token, rolloutId } = talk.attempt;
    for (const path of ['', '/v1', `/rollout/${rolloutId}/attempt/1/v1`, '/agent/solver/v1']) {
      const client = new OpenAI({ apiKey: token, baseURL: `${talk.url}${path}`, maxRetries: 0 });
      expect((await client.responses.create({ model: 'policy', input: 'Hi' })).output_text).toBe('ok');
    }
    expect((await talk.calls()).map((call) => call.agentName)).toEqual([null, null, null, 'solver']);
  });

  it('is told in its own shape what is wrong', async () => {
    const client = await openAi(['ok']);
    const create = (body: object) => client.responses.create(body as OpenAI.Responses.ResponseCreateParamsNonStreaming);
    await expect(create({ model: 'policy', input: 'x', previous_response_id: 'resp_none' })).rejects.toMatchObject({
      ...{ status: 400, param: 'previous_response_id', code: 'previous_response_not_found' },
      message: expect.stringContaining('resp_none') as string,
    });
    const reference = { model: 'policy', input: [{ type: 'item_reference', id: 'msg_none' }] };
    await expect(create(reference)).rejects.toMatchObject({
      status: 404,
      param: 'input[0].id',
      code: 'item_not_found',
    });
    const other = await talk.gateway.attempt();
    const foreign = new OpenAI({ apiKey: other.token, baseURL: `${talk.url}/v1`, maxRetries: 0 });
    const { id } = await foreign.responses.create({ model: 'policy', input: 'secret' });
    await expect(create({ model: 'policy', input: 'x', previous_response_id: id })).rejects.toMatchObject({
      code: 'previous_response_not_found',
    });
    await expect(create({ model: 'policy', input: 'x'.repeat(5000) })).rejects.toMatchObject({
      code: 'context_length_exceeded',
    });
  });
});

describe('@openai/agents', () => {
  it.each([false, true])('uses tools and goes on from the exact ids (streamed: %s)', async (stream) => {
    const openAIClient = await openAi(toolAnswers);
    // The package ships its own copy of the client's types.
    const modelProvider = new OpenAIProvider({ openAIClient } as ConstructorParameters<typeof OpenAIProvider>[0]);
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    const calculate = tool({
      name: 'calculate',
      description: 'calculates',
      parameters: calculateParameters,
      execute: ({ expression }) => (expression === '6*7' ? '42' : 'wrong'),
    });
    const agent = new Agent({ name: 'solver', instructions: 'Be exact.', model: 'policy', tools: [calculate] });
    if (stream) {
      const run = await runner.run(agent, '6*7?', { stream: true });
      let streamed = '';
      for await (const piece of run.toTextStream()) streamed += piece;
      await run.completed;
      expect(streamed).toBe('Let me see.\nIt is 42.');
      expect(run.finalOutput).toBe('It is 42.');
    } else {
      expect((await runner.run(agent, '6*7?')).finalOutput).toBe('It is 42.');
    }
    const calls = await talk.calls();
    expectExact(calls, toolAnswers);
    expect(addedText(calls[0], calls[1])).toBe(toolPrompt);
  });
});

describe('the ai package with @ai-sdk/openai', () => {
  it.each([false, true])('uses tools and goes on from the exact ids (streamed: %s)', async (stream) => {
    await openAi(toolAnswers);
    const model = createOpenAI({ apiKey: talk.attempt.token, baseURL: `${talk.url}/v1` })('policy');
    const calculate = aiTool({
      description: 'calculates',
      inputSchema: calculateParameters,
      execute: ({ expression }) => Promise.resolve(expression === '6*7' ? '42' : 'wrong'),
    });
    const request = { model, system: 'Be exact.', prompt: '6*7?', tools: { calculate }, stopWhen: stepCountIs(3) };
    if (stream) {
      const result = streamText({ ...request, maxRetries: 0 });
      let streamed = '';
      for await (const piece of result.textStream) streamed += piece;
      expect(streamed).toBe('Let me see.\nIt is 42.');
    } else {
      expect((await generateText({ ...request, maxRetries: 0 })).text).toBe('It is 42.');
    }
    const calls = await talk.calls();
    expectExact(calls, toolAnswers);
    expect(addedText(calls[0], calls[1])).toBe(toolPrompt);
  });
});
