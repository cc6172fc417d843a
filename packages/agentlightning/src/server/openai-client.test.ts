import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import type { Call } from '../store/types.ts';
import { byteTokenizer, endOfTurnId, spellOut } from '../upstreams/testing/byte-text.ts';
import { type Script, say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type OpenAttempt, type StartedGateway, startGateway } from './testing/started-gateway.ts';

const tools: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'calculate', parameters: { type: 'object', properties: {} } } },
];
const toolCall = '<tool_call>\n{"name": "calculate", "arguments": {"expression":  "6*7"}}\n</tool_call>';
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'What is 6*7?' }];

let gateway: StartedGateway;
afterEach(() => gateway.close());

async function clientOf(script: Script, path = '/v1') {
  const engine = scriptedEngine(script);
  gateway = await startGateway(engine);
  const attempt = await gateway.attempt();
  return { engine, attempt, client: openAi(attempt, path) };
}

function openAi({ token }: OpenAttempt, path = '/v1'): OpenAI {
  return new OpenAI({ apiKey: token, baseURL: `${gateway.server.url}${path}`, maxRetries: 0 });
}

/** What the model saw and said, decoded from the recorded ids; the end token is not text. */
function decodedAnswer(call: Call | undefined): string {
  const ids = [...(call?.choices[0]?.tokenIds ?? [])].filter((id) => id !== endOfTurnId);
  return byteTokenizer.decode(ids);
}

async function readStream(stream: AsyncIterable<OpenAI.ChatCompletionChunk>) {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return { chunks, text: chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('') };
}

describe('the openai package', () => {
  it('holds a plain conversation, recorded token by token', async () => {
    const { client, attempt } = await clientOf(() => say('It is 42.'));
    const answer = await client.chat.completions.create({ model: 'gpt-4o', messages });
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'It is 42.' },
    });
    expect(answer.usage).toEqual({ prompt_tokens: 31, completion_tokens: 9, total_tokens: 40 });
    const [call] = await gateway.store.listCalls(attempt.attemptId);
    expect(call).toMatchObject({
      ...{ attemptId: attempt.attemptId, rolloutId: attempt.rolloutId, sequence: 0, model: 'policy', policy: 'policy' },
      ...{ dialect: 'chat', request: { model: 'gpt-4o', messages }, overridden: { model: 'gpt-4o' } },
      ...{ untrainable: null, error: null, agentName: null },
    });
    expect(`chatcmpl-${call?.id}`).toBe(answer.id);
    expect(call?.response).toEqual(JSON.parse(JSON.stringify(answer)));
    expect(byteTokenizer.decode(call?.promptIds ?? [])).toBe(
      '<|im_start|>user\nWhat is 6*7?<|im_end|>\n<|im_start|>assistant\n',
    );
    expect([...(call?.choices[0]?.tokenIds ?? [])]).toEqual(say('It is 42.'));
    expect(call?.choices[0]?.logProbs).toHaveLength(9);
  });

  it('streams whole characters, and the stream, the record and the ids are one text', async () => {
    const text = 'né 😀 <b>\n42\u2028"é"';
    const { client, attempt } = await clientOf(() => [...spellOut(text), endOfTurnId]);
    const stream = await client.chat.completions.create({
      ...{ model: 'policy', messages, stream: true, stream_options: { include_usage: true } },
    });
    const { chunks, text: streamed } = await readStream(stream);
    expect(streamed).toBe(text);
    expect(chunks.every((chunk) => !(chunk.choices[0]?.delta.content ?? '').includes('\uFFFD'))).toBe(true);
    expect(chunks.length).toBeGreaterThan(10);
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(spellOut(text).length + 1);
    const [call] = await gateway.store.listCalls(attempt.attemptId);
    expect(call?.choices[0]?.text).toBe(text);
    expect(decodedAnswer(call)).toBe(text);
  });

  it('records a streamed and a whole answer of one seed alike', async () => {
    const script: Script = (request) => say(`${request.seed} ${toolCall}`);
    const { client } = await clientOf(script);
    const [one, other] = [await gateway.attempt({ seed: 5 }), await gateway.attempt({ seed: 5 })];
    await openAi(one).chat.completions.create({ model: 'policy', messages, tools });
    await readStream(await openAi(other).chat.completions.create({ model: 'policy', messages, tools, stream: true }));
    const [whole] = await gateway.store.listCalls(one.attemptId);
    const [streamed] = await gateway.store.listCalls(other.attemptId);
    const comparable = (call: Call | undefined) => {
      const { id, attemptId, rolloutId, request, startedAt, latencyMs, timeToFirstTokenMs, ...rest } = call as Call;
      return { ...rest, response: { ...rest.response, id: '', created: 0 } };
    };
    expect(comparable(streamed)).toEqual(comparable(whole));
    expect(whole?.response).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
    expect(client).toBeDefined();
  });

  it.each([false, true])('uses tools, and goes on from the exact ids (streamed: %s)', async (stream) => {
    const answers = [`Let me see.\n${toolCall}`, 'It is 42.'];
    // "42" is spelled out, so that a second tokenisation would show.
    const script: Script = (_, index) => [...spellOut(answers[index % 2] ?? ''), endOfTurnId];
    const { client, attempt } = await clientOf(script);
    const runner = client.chat.completions.runTools({
      model: 'policy',
      messages,
      stream,
      tools: [
        {
          type: 'function',
          function: {
            name: 'calculate',
            description: 'calculates',
            parameters: { type: 'object', properties: { expression: { type: 'string' } } },
            parse: JSON.parse,
            function: ({ expression }: { expression: string }) => (expression === '6*7' ? '42' : 'wrong'),
          },
        },
      ],
    } as Parameters<typeof client.chat.completions.runTools>[0]);
    expect(await runner.finalContent()).toBe('It is 42.');
    const [first, second] = await gateway.store.listCalls(attempt.attemptId);
    expect(first?.response).toMatchObject({
      choices: [
        {
          finish_reason: 'tool_calls',
          message: { content: 'Let me see.\n', tool_calls: [{ function: { arguments: '{"expression":  "6*7"}' } }] },
        },
      ],
    });
    expect(decodedAnswer(first)).toBe(answers[0]);
    const chain = [...(first?.promptIds ?? []), ...(first?.choices[0]?.tokenIds ?? [])];
    const prompt = [...(second?.promptIds ?? [])];
    expect(prompt.slice(0, chain.length)).toEqual(chain);
    expect(byteTokenizer.decode(prompt.slice(chain.length))).toBe(
      '\n<|im_start|>tool\n42<|im_end|>\n<|im_start|>assistant\n',
    );
  });

  it('keeps all choices of n = 3', async () => {
    const { client, attempt } = await clientOf((request) => say(`seed ${request.seed}`));
    const answer = await client.chat.completions.create({ model: 'policy', messages, n: 3 });
    const [call] = await gateway.store.listCalls(attempt.attemptId);
    const texts = call?.choices.map((choice) => choice.text) ?? [];
    expect(new Set(texts).size).toBe(3);
    expect(answer.choices.map((choice) => choice.message.content)).toEqual(texts);
    const streamed = await client.chat.completions.create({ model: 'policy', messages, n: 3, stream: true });
    const finished = (await readStream(streamed)).chunks
      .flatMap((chunk) => chunk.choices)
      .filter((c) => c.finish_reason);
    expect(finished.map((choice) => choice.index)).toEqual([0, 1, 2]);
  });

  it('gets log probs and ids when it asks for them', async () => {
    const { client } = await clientOf(() => say('ok'));
    const extra = { return_token_ids: true };
    const answer = await client.chat.completions.create({ model: 'policy', messages, logprobs: true, ...extra });
    const choice = answer.choices[0] as OpenAI.ChatCompletion.Choice & { token_ids: number[] };
    expect(choice.token_ids).toEqual(say('ok'));
    expect(choice.logprobs?.content?.map(({ token }) => token)).toEqual(['o', 'k', '<|im_end|>']);
  });

  it('samples as the session says, and the override is recorded', async () => {
    const { engine } = await clientOf(() => say('ok'));
    const attempt = await gateway.attempt({ sampling: { temperature: 0.8, topP: 1, topK: 0 } });
    const request = { model: 'policy', messages, temperature: 0, top_p: 0.5, max_tokens: 9999, seed: 3 };
    await openAi(attempt).chat.completions.create(request);
    expect(engine.requests[0]).toMatchObject({ temperature: 0.8, topP: 1, topK: 0, maxTokens: 4096 - 31 });
    const [call] = await gateway.store.listCalls(attempt.attemptId);
    expect(call?.sampling).toMatchObject({ temperature: 0.8, topP: 1, topK: 0, maxTokens: 4096 - 31 });
    expect(call?.overridden).toEqual({ temperature: 0, topP: 0.5, maxTokens: 9999, seed: 3 });
  });

  it('may use any of the path forms', async () => {
    const { attempt } = await clientOf(() => say('ok'));
    const { rolloutId, attemptId } = attempt;
    const forms = ['', '/v1', `/rollout/${rolloutId}/attempt/1/v1`, `/rollout/${rolloutId}/attempt/${attemptId}/v1`];
    const named = ['/agent/solver/v1', `/rollout/${rolloutId}/attempt/1/agent/solver/v1`];
    for (const path of [...forms, ...named]) {
      await openAi(attempt, path).chat.completions.create({ model: 'policy', messages });
    }
    const headers = { 'x-agl-agent': 'judge' };
    await openAi(attempt).chat.completions.create({ model: 'policy', messages }, { headers });
    const names = (await gateway.store.listCalls(attemptId)).map((call) => call.agentName);
    expect(names).toEqual([null, null, null, null, 'solver', 'solver', 'judge']);
  });

  it('lists the models', async () => {
    const { client } = await clientOf(() => []);
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['policy']);
    expect(await client.models.retrieve('policy')).toMatchObject({ id: 'policy', object: 'model' });
    await expect(client.models.retrieve('org/other')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('is told in its own shape what is wrong', async () => {
    const { client, attempt } = await clientOf(() => []);
    const create = (body: object) => client.chat.completions.create(body as OpenAI.ChatCompletionCreateParams);
    await expect(create({ model: 'policy', messages: [{ role: 'user', content: 7 }] })).rejects.toMatchObject({
      status: 400,
      param: 'messages[0].content',
      code: 'invalid_value',
      type: 'invalid_request_error',
    });
    const long = [{ role: 'user', content: 'x'.repeat(5000) }];
    await expect(create({ model: 'policy', messages: long, stream: true })).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
    });
    const [call] = await gateway.store.listCalls(attempt.attemptId);
    expect(call).toMatchObject({ untrainable: 'upstream_error', response: null });
    expect(call?.error).toMatch(/^context_length_exceeded: /);
  });

  it('is refused without the right token', async () => {
    const { attempt } = await clientOf(() => say('ok'));
    const other = await gateway.attempt();
    const ask = (token: string, path = '/v1') =>
      openAi({ ...attempt, token }, path).chat.completions.create({ model: 'policy', messages });
    const foreign = `/rollout/${other.rolloutId}/attempt/1/v1`;
    await expect(ask(attempt.token, foreign)).rejects.toMatchObject({ status: 403, code: 'wrong_attempt' });
    await expect(ask('sk-none')).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    await gateway.sessions.close(attempt.attemptId);
    await expect(ask(attempt.token)).rejects.toMatchObject({
      status: 401,
      code: 'attempt_ended',
      message: expect.stringContaining('attempt that has ended') as string,
    });
    expect(await gateway.store.listCalls(other.attemptId)).toEqual([]);
  });
});
