import { afterEach, describe, expect, it } from 'vitest';
import { type FakeServer, type FakeServerOptions, startFakeServer } from './index.ts';

const open: FakeServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function start(options: FakeServerOptions = {}): Promise<FakeServer> {
  const server = await startFakeServer(options);
  open.push(server);
  return server;
}

async function post(server: FakeServer, path: string, body: object): Promise<Response> {
  return fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
}

async function eventsOf(response: Response): Promise<Record<string, unknown>[]> {
  const events = (await response.text()).split('\n\n').filter((part) => part.startsWith('data: {'));
  return events.map((event) => JSON.parse(event.slice('data: '.length)) as Record<string, unknown>);
}

const asked = { logprobs: 0, return_token_ids: true, return_tokens_as_token_ids: true, max_tokens: 50 };

describe('the vLLM-like server', () => {
  it('tells the same ids and log probs whole and in a stream, the end token among them, and logs them', async () => {
    const server = await start({ script: () => 'né 😀' });
    const prompt = [...server.model.tokenizer.encode('<|im_start|>user\nhi')];
    const whole = (await (await post(server, '/v1/completions', { ...asked, prompt })).json()) as {
      choices: { text: string; token_ids: number[]; logprobs: { token_logprobs: number[]; tokens: string[] } }[];
    };
    const stream = await eventsOf(await post(server, '/v1/completions', { ...asked, prompt, stream: true }));
    const [logged] = server.requests;
    const [choice] = whole.choices;
    expect(choice?.text).toBe('né 😀');
    expect(choice?.token_ids).toEqual(logged?.answers[0]?.ids);
    expect(choice?.token_ids.at(-1)).toBe(server.model.endId);
    expect(choice?.logprobs.token_logprobs).toEqual(logged?.answers[0]?.logProbs);
    expect(choice?.logprobs.tokens[0]).toBe(`token_id:${choice?.token_ids[0]}`);
    const parts = stream.map(({ choices }) => (choices as { text: string; token_ids: number[] }[])[0]);
    expect(parts.flatMap((part) => part?.token_ids)).toEqual(choice?.token_ids);
    expect(parts.map((part) => part?.text).join('')).toBe('né 😀');
    expect(logged).toMatchObject({ promptIds: prompt, cancelled: false });
  });

  it('renders chats, parses calls, and refuses what is too long in the words of the real one', async () => {
    const call = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>';
    const server = await start({ script: () => call, contextTokens: 400 });
    const tools = [{ type: 'function', function: { name: 'add', parameters: { properties: { a: {} } } } }];
    const body = { messages: [{ role: 'user', content: 'hi' }], tools };
    const answer = (await (await post(server, '/v1/chat/completions', body)).json()) as {
      choices: { finish_reason: string; message: { tool_calls: { function: object }[] } }[];
    };
    expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
    expect(answer.choices[0]?.message.tool_calls[0]?.function).toEqual({ name: 'add', arguments: '{"a":1}' });
    const refused = await post(server, '/v1/completions', { prompt: Array(400).fill(5) });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('maximum context length is 400 tokens');
  });

  it('goes wrong as ordered, once', async () => {
    const server = await start();
    server.order({ kind: 'status', status: 503 }, { kind: 'cut', after: 1 }, { kind: 'reset', after: 1 });
    const body = { ...asked, prompt: 'hi', stream: true };
    expect((await post(server, '/v1/completions', body)).status).toBe(503);
    const cut = await eventsOf(await post(server, '/v1/completions', body));
    expect(cut.map(({ choices }) => (choices as { finish_reason: unknown }[])[0]?.finish_reason)).toEqual([null]);
    await expect((await post(server, '/v1/completions', body)).text()).rejects.toThrow();
    expect(await (await post(server, '/v1/completions', body)).text()).toContain('[DONE]');
  });

  it('sees a client leave', async () => {
    const server = await start();
    server.order({ kind: 'hang', after: 1 });
    const abort = new AbortController();
    const response = await fetch(`${server.url}/v1/completions`, {
      ...{ method: 'POST', signal: abort.signal, body: JSON.stringify({ ...asked, prompt: 'hi', stream: true }) },
    });
    await response.body?.getReader().read();
    abort.abort();
    await server.requests[0]?.done;
    expect(server.requests[0]?.cancelled).toBe(true);
  });

  it('loads and unloads adapters, and serves no other', async () => {
    const server = await start();
    const ask = (model: string) => post(server, '/v1/completions', { model, prompt: 'hi' });
    expect((await ask('p-1')).status).toBe(404);
    await post(server, '/v1/load_lora_adapter', { lora_name: 'p-1', lora_path: '/weights/1' });
    expect((await ask('p-1')).status).toBe(200);
    await post(server, '/v1/unload_lora_adapter', { lora_name: 'p-1' });
    expect((await ask('p-1')).status).toBe(404);
  });
});

describe('the other servers', () => {
  it('SGLang tells a streamed answer whole each time', async () => {
    const server = await start({ kind: 'sglang', script: () => 'one two' });
    const body = { input_ids: [5, 6], return_logprob: true, stream: true, sampling_params: { max_new_tokens: 9 } };
    const events = await eventsOf(await post(server, '/generate', body));
    const ids = server.requests[0]?.answers[0]?.ids ?? [];
    expect(events.map(({ output_ids }) => output_ids)).toEqual(ids.map((_, index) => ids.slice(0, index + 1)));
    expect(events.at(-1)?.meta_info).toMatchObject({ finish_reason: { type: 'stop', matched: server.model.endId } });
  });

  it('llama.cpp tells a stream nothing of tokens that end within a character, as the real one', async () => {
    const server = await start({ kind: 'llamacpp', script: () => 'a😀' });
    const body = { prompt: [5, 6], n_probs: 1, return_tokens: true };
    const whole = (await (await post(server, '/completion', body)).json()) as { tokens: number[] };
    const events = await eventsOf(await post(server, '/completion', { ...body, stream: true }));
    expect(whole.tokens).toEqual(server.requests[0]?.answers[0]?.ids);
    const streamed = events.flatMap(({ tokens }) => tokens as number[]);
    expect(streamed.length).toBeLessThan(whole.tokens.length);
    expect(events.map(({ content }) => content).join('')).toBe('a😀');
  });
});
