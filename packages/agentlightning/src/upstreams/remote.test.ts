import { afterEach, describe, expect, it } from 'vitest';
import { capabilityStatement } from './capabilities.ts';
import { upstreamKinds } from './kinds.ts';
import type { RemoteUpstream, RemoteUpstreamOptions } from './remote.ts';
import { type FakeServer, type FakeServerOptions, startFakeServer } from './testing/servers/index.ts';
import { testModelFolder } from './testing/servers/test-model.ts';
import { contextOf, eventsOf, idsOf, textOf, turnOf } from './testing/turns.ts';
import type { Message, TurnEvent } from './upstream.ts';

const open: FakeServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

type Kind = NonNullable<FakeServerOptions['kind']>;

async function start(
  fake: FakeServerOptions,
  options: Partial<RemoteUpstreamOptions> = {},
): Promise<{ server: FakeServer; upstream: RemoteUpstream }> {
  const server = await startFakeServer(fake);
  open.push(server);
  const kind = upstreamKinds.find(({ name }) => name === (fake.kind ?? 'vllm'))!;
  const upstream = await kind.create({
    ...{ name: 'remote', url: server.url, policy: 'policy', tokenizer: testModelFolder, retries: 0 },
    ...options,
  });
  // What the probe asked is none of a test's business.
  server.requests.length = 0;
  return { server, upstream };
}

const user = (content: string): Message => ({ role: 'user', content });
const add = '<tool_call>{"name": "add", "arguments": {"a":  1}}</tool_call>';
const tools = [{ name: 'add', parameters: { type: 'object', properties: { a: { type: 'number' } } } }];

/** The model's ids and log probs as the events tell them. */
function told(events: TurnEvent[], choice = 0): { ids: number[]; logProbs: number[] } {
  const tokens = events.flatMap((event) => (event.type === 'tokens' && event.choice === choice ? [event] : []));
  return { ids: tokens.flatMap(({ ids }) => ids), logProbs: tokens.flatMap(({ logProbs }) => logProbs) };
}

describe.each<Kind>(['vllm', 'sglang', 'llamacpp'])('%s, asked with tokens', (kind) => {
  it('tells the ids and log probs that the server sampled, and goes on from them', async () => {
    const spelled = (server: FakeServer, text: string) =>
      [...text].flatMap((one) => [...server.model.tokenizer.encode(one)]);
    const says: number[][] = [];
    const { server, upstream } = await start({ kind, script: ({ call }) => says[call] ?? 'ok' });
    // Spelled out: tokenised again, it would look different.
    says.push([...spelled(server, 'the name'), server.model.endId]);
    const first = await eventsOf(upstream.generate(turnOf({ messages: [user('hi')] }), contextOf()));
    const messages = [user('hi'), { role: 'assistant' as const, content: textOf(first) }, user('on')];
    const second = await eventsOf(upstream.generate(turnOf({ messages }), contextOf()));
    const [one, two] = server.requests;
    expect(textOf(first)).toBe('the name');
    for (const [events, request] of [
      [first, one],
      [second, two],
    ] as const) {
      const { ids, logProbs } = request!.answers[0]!;
      expect(told(events)).toEqual({ ids, logProbs });
      expect(events[0]).toMatchObject({ type: 'prompt', ids: Int32Array.from(request!.promptIds) });
      expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
      expect(events.some(({ type }) => type === 'untrainable')).toBe(false);
    }
    const chain = [...one!.promptIds, ...one!.answers[0]!.ids];
    expect(two!.promptIds.slice(0, chain.length)).toEqual(chain);
  });

  it('parses calls itself, whole and piece by piece', async () => {
    const { upstream } = await start({ kind, script: () => `Sure. ${add}` });
    const ask = (stream: boolean) => eventsOf(upstream.generate(turnOf({ tools, stream }), contextOf()));
    for (const events of [await ask(true), await ask(false)]) {
      expect(textOf(events)).toBe('Sure. ');
      const call = { id: 'call_0_0', name: 'add', arguments: '{"a":  1}' };
      expect(events.find(({ type }) => type === 'tool-call')).toMatchObject({ call });
      expect(events.at(-1)).toMatchObject({ reason: 'tool_calls', rawText: `Sure. ${add}` });
    }
    const pieces = (await ask(true)).flatMap((event) => (event.type === 'tool-call-arguments' ? [event.text] : []));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe('{"a":  1}');
  });

  it('keeps choices apart, stops at texts and at the length', async () => {
    const { server, upstream } = await start({ kind, script: ({ call }) => ['one STOP two', 'three'][call % 2] ?? '' });
    const turn = turnOf({ n: 2 });
    turn.sampling = { ...turn.sampling, stop: ['STOP'], maxTokens: 300 };
    const events = await eventsOf(upstream.generate(turn, contextOf()));
    expect([textOf(events, 0), textOf(events, 1)]).toEqual(['one ', 'three']);
    expect([0, 1].map((choice) => idsOf(events, choice))).toEqual(
      server.requests.map(({ answers }) => answers[0]?.ids),
    );
    turn.sampling.maxTokens = 2;
    const short = await eventsOf(upstream.generate({ ...turn, n: 1 }, contextOf()));
    expect(short.at(-1)).toMatchObject({ reason: 'length' });
    expect(idsOf(short)).toHaveLength(2);
  });

  it('refuses a prompt that leaves no room, and bounds the answer by the room that is left', async () => {
    const { server, upstream } = await start({ kind, contextTokens: 60 });
    const long = turnOf({ messages: [user('x '.repeat(100))] });
    await expect(eventsOf(upstream.generate(long, contextOf()))).rejects.toMatchObject({
      ...{ code: 'context_length_exceeded', status: 400, category: 'agent' },
    });
    expect(server.requests).toEqual([]);
    const [prompt] = await eventsOf(upstream.generate(turnOf(), contextOf()));
    const length = server.requests[0]!.promptIds.length;
    expect(prompt).toMatchObject({ type: 'prompt', maxTokens: 60 - length });
  });

  it("knows a server's refusal of a long prompt, in the words of each", async () => {
    const { server, upstream } = await start({ kind });
    for (const message of [
      "This model's maximum context length is 60 tokens. However, your prompt contains 100 input tokens.",
      "The input (100 tokens) is longer than the model's context length (60 tokens).",
      'request (100 tokens) exceeds the available context size (60 tokens), try increasing it',
    ]) {
      server.order({ kind: 'status', status: 400, message });
      await expect(eventsOf(upstream.generate(turnOf(), contextOf()))).rejects.toMatchObject({
        ...{ code: 'context_length_exceeded', status: 400, category: 'agent', retryable: false },
      });
    }
  });

  it('cancels at the server when the client leaves', async () => {
    const { server, upstream } = await start({ kind, script: () => 'one two three four' });
    server.order({ kind: 'hang', after: 2 });
    const abort = new AbortController();
    const reading = (async () => {
      for await (const event of upstream.generate(turnOf(), contextOf({ signal: abort.signal })))
        if (event.type === 'text') abort.abort(new Error('gone'));
    })();
    await expect(reading).rejects.toThrow('gone');
    await server.requests[0]?.done;
    expect(server.requests[0]?.cancelled).toBe(true);
  });

  it.each([
    [
      { kind: 'status', status: 500 },
      { code: 'upstream_refused', status: 502, retryable: true },
    ],
    [
      { kind: 'status', status: 429 },
      { code: 'upstream_refused', status: 429, retryable: true },
    ],
    [{ kind: 'reset' }, { code: 'upstream_unreachable', status: 502, retryable: true }],
    [
      { kind: 'reset', after: 1 },
      { code: 'upstream_unreachable', status: 502, retryable: true },
    ],
    [
      { kind: 'hang', after: 1 },
      { code: 'upstream_timeout', status: 504, retryable: true },
    ],
    [
      { kind: 'cut', after: 1 },
      { code: 'broken_stream', status: 502, retryable: true },
    ],
  ] as const)('reports %o', async (fault, problem) => {
    const { server, upstream } = await start({ kind }, fault.kind === 'hang' ? { idleTimeoutMs: 50 } : {});
    server.order(fault);
    await expect(eventsOf(upstream.generate(turnOf(), contextOf()))).rejects.toMatchObject(problem);
  });

  it.each([
    ['no-log-probs', 'missing_log_probs'],
    ['lost-log-prob', 'length_mismatch'],
  ] as const)('marks an answer untrainable: %s', async (fault, reason) => {
    const { server, upstream } = await start({ kind, script: () => 'one two' });
    server.order({ kind: fault });
    const events = await eventsOf(upstream.generate(turnOf(), contextOf()));
    expect(textOf(events)).toBe('one two');
    expect(events).toContainEqual({ type: 'untrainable', choice: 0, reason });
  });

  it('says what can be trained', async () => {
    const { upstream } = await start({ kind });
    expect(upstream.capabilities).toMatchObject({ way: 'tokens', contextTokens: 2048, untrainable: null });
    expect(capabilityStatement('policy', upstream.capabilities!)).toMatch(/can be trained on/);
  });
});

describe('ids that a server does not tell', () => {
  it.each<Kind>(['vllm', 'llamacpp'])('%s: the client gets its text, and nobody trains on it', async (kind) => {
    const { server, upstream } = await start({ kind, script: () => 'one two' });
    server.order({ kind: 'no-ids' });
    const events = await eventsOf(upstream.generate(turnOf(), contextOf()));
    expect(textOf(events).trim()).toBe('one two');
    expect(events).toContainEqual({ type: 'untrainable', choice: 0, reason: 'missing_token_ids' });
    expect(idsOf(events)).toEqual([]);
  });

  it.each([
    ['vllm', 'tokens'],
    ['vllm', 'chat'],
    ['llamacpp', 'tokens'],
  ] as const)('%s, %s: an event that was lost leaves a gap, which is found', async (kind, way) => {
    const { server, upstream } = await start({ kind, script: () => 'one two' }, { way });
    server.order({ kind: 'lost-event' });
    const events = await eventsOf(upstream.generate(turnOf(), contextOf()));
    expect(events).toContainEqual({ type: 'untrainable', choice: 0, reason: 'missing_token_ids' });
  });

  it('llama.cpp: characters of several tokens, whose ids its stream leaves out', async () => {
    const { upstream } = await start({ kind: 'llamacpp', script: () => 'a 😀 b' });
    const streamed = await eventsOf(upstream.generate(turnOf(), contextOf()));
    expect(textOf(streamed)).toBe('a 😀 b');
    expect(streamed).toContainEqual({ type: 'untrainable', choice: 0, reason: 'missing_token_ids' });
    const whole = await eventsOf(upstream.generate(turnOf({ stream: false }), contextOf()));
    expect(textOf(whole)).toBe('a 😀 b');
    expect(whole).toContainEqual({ type: 'untrainable', choice: 0, reason: 'length_mismatch' });
  });

  it('vLLM before 0.10.2: they are read from the names of the tokens', async () => {
    const { server, upstream } = await start({ withoutTokenIds: true, script: () => 'né 😀' });
    const events = await eventsOf(upstream.generate(turnOf(), contextOf()));
    expect(told(events).ids).toEqual(server.requests[0]?.answers[0]?.ids);
  });
});

describe('vllm', () => {
  it('renders itself when it has to: its ids are taken as it tells them', async () => {
    const { server, upstream } = await start({ script: () => `Sure. ${add}` }, { way: 'chat' });
    const events = await eventsOf(upstream.generate(turnOf({ tools }), contextOf()));
    const [request] = server.requests;
    expect(request?.path).toBe('/v1/chat/completions');
    expect(events[0]).toEqual({ type: 'prompt', ids: Int32Array.from(request!.promptIds) });
    expect(told(events)).toEqual({ ids: request?.answers[0]?.ids, logProbs: request?.answers[0]?.logProbs });
    expect(events.find(({ type }) => type === 'tool-call')).toMatchObject({ call: { arguments: '{"a":1}' } });
    expect(upstream.capabilities).toMatchObject({ way: 'chat', renderedBy: 'server' });
  });

  it.each([
    ['no-ids', 'missing_token_ids'],
    ['no-log-probs', 'missing_log_probs'],
    ['lost-log-prob', 'length_mismatch'],
  ] as const)('marks an answer untrainable the chat way, too: %s', async (kind, reason) => {
    const { server, upstream } = await start({ script: () => 'one two' }, { way: 'chat' });
    server.order({ kind });
    const events = await eventsOf(upstream.generate(turnOf(), contextOf()));
    expect(textOf(events)).toBe('one two');
    expect(events).toContainEqual({ type: 'untrainable', choice: 0, reason });
  });

  it('serves each version under a name of its own; calls under way finish on theirs', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let hold = false;
    const { server, upstream } = await start({
      script: () => 'one two',
      pace: () => (hold ? held : Promise.resolve()),
    });
    await upstream.publish?.({ version: 1, path: '/weights/1' });
    hold = true;
    const old = eventsOf(upstream.generate(turnOf(), contextOf()));
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await upstream.publish?.({ version: 2, path: '/weights/2' });
    expect([...server.adapters.keys()]).toEqual(['policy-1', 'policy-2']);
    hold = false;
    release();
    const versionOf = (events: TurnEvent[]) =>
      new Set(events.flatMap((event) => (event.type === 'tokens' ? [event.policyVersion] : [])));
    expect(versionOf(await old)).toEqual(new Set([1]));
    expect([...server.adapters.keys()]).toEqual(['policy-2']);
    expect(versionOf(await eventsOf(upstream.generate(turnOf(), contextOf())))).toEqual(new Set([2]));
    expect(server.requests.map(({ model }) => model)).toEqual(['policy-1', 'policy-2']);
  });

  it('says why a server cannot be trained on, and which models it has', async () => {
    const { upstream } = await start({ withoutAdapters: true });
    expect(capabilityStatement('policy', upstream.capabilities!)).toContain('adapters cannot be loaded');
    expect(upstream.publish).toBeUndefined();
    await expect(start({}, { modelId: 'other' })).rejects.toMatchObject({
      ...{ code: 'model_not_served', hint: 'It serves: test-model.' },
    });
  });

  it('asks for the distribution itself, and passes on what only the server knows', async () => {
    const { server, upstream } = await start({});
    const turn = turnOf({ extra: { response_format: { type: 'json_object' }, parallel_tool_calls: false } });
    await eventsOf(upstream.generate(turn, contextOf()));
    expect(server.requests[0]?.body).toMatchObject({
      ...{ temperature: 1, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1, add_special_tokens: false },
      response_format: { type: 'json_object' },
    });
    expect(server.requests[0]?.body).not.toHaveProperty('parallel_tool_calls');
  });

  it('sends its key', async () => {
    await expect(start({ apiKey: 'sk-1' })).rejects.toMatchObject({ status: 502 });
    const { upstream } = await start({ apiKey: 'sk-1' }, { apiKey: 'sk-1' });
    expect(upstream.capabilities?.untrainable).toBeNull();
  });
});

it('llama.cpp renders with what its GGUF file brings, where there is no folder', async () => {
  const server = await startFakeServer({ kind: 'llamacpp', script: () => `Sure. ${add}` });
  open.push(server);
  const kind = upstreamKinds.find(({ name }) => name === 'llamacpp')!;
  const upstream = await kind.create({ name: 'remote', url: server.url, policy: 'policy' });
  const first = await eventsOf(upstream.generate(turnOf({ tools }), contextOf()));
  expect(first.find(({ type }) => type === 'tool-call')).toMatchObject({ call: { arguments: '{"a":  1}' } });
  const [request] = server.requests;
  expect(request?.promptIds).toEqual([...server.model.tokenizer.encode(promptText(server))]);
  const answer: Message = {
    role: 'assistant',
    content: 'Sure. ',
    toolCalls: [{ id: 'x', name: 'add', arguments: '{"a":1}' }],
  };
  const messages = [user('hello'), answer, { role: 'tool' as const, toolCallId: 'x', content: '2' }];
  await eventsOf(upstream.generate(turnOf({ tools, messages }), contextOf()));
  const chain = [...request!.promptIds, ...request!.answers[0]!.ids];
  expect(server.requests[1]?.promptIds.slice(0, chain.length)).toEqual(chain);
});

function promptText({ model }: FakeServer): string {
  const offered = tools.map((tool) => ({ type: 'function', function: tool }));
  return model.template.render({
    messages: [{ role: 'user', content: 'hello' }],
    tools: offered,
    addGenerationPrompt: true,
  });
}
