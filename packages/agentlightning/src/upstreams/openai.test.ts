import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createOpenAiUpstream } from './openai.ts';
import { contextOf, eventsOf, turnOf } from './testing/turns.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function serviceOf(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return createOpenAiUpstream({
    name: 'judge',
    baseUrl: `http://127.0.0.1:${port}/v1/`,
    apiKey: 'sk-1',
    modelId: 'big',
  });
}

/** Sends the events in pieces of three bytes, so that nothing arrives whole. */
function streaming(events: unknown[], end = 'data: [DONE]\n\n'): RequestListener {
  return (_, response) => {
    const bytes = Buffer.from(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}${end}`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let start = 0; start < bytes.length; start += 3) response.write(bytes.subarray(start, start + 3));
    response.end();
  };
}

const chunk = (delta: unknown, finish_reason: string | null = null, index = 0) => ({
  choices: [{ index, delta, finish_reason }],
});

describe('the OpenAI-compatible upstream', () => {
  it('tells text and tool calls as they come, and calls whole in the end', async () => {
    const upstream = await serviceOf(
      streaming([
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'né ' }),
        chunk({ content: '😀' }),
        chunk({ tool_calls: [{ index: 0, id: 'call_a', function: { name: 'add', arguments: '{"a"' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ': 1}' } }] }),
        chunk({}, 'tool_calls'),
        { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } },
      ]),
    );
    expect(await eventsOf(upstream.generate(turnOf(), contextOf()))).toEqual([
      { type: 'prompt', ids: null },
      { type: 'text', choice: 0, text: 'né ' },
      { type: 'text', choice: 0, text: '😀' },
      { type: 'tool-call-start', choice: 0, id: 'call_a', name: 'add' },
      { type: 'tool-call-arguments', choice: 0, text: '{"a"' },
      { type: 'tool-call-arguments', choice: 0, text: ': 1}' },
      { type: 'tool-call', choice: 0, call: { id: 'call_a', name: 'add', arguments: '{"a": 1}' } },
      { type: 'finish', choice: 0, reason: 'tool_calls', rawText: 'né 😀' },
      { type: 'usage', promptTokens: 5, completionTokens: 7 },
    ]);
  });

  it('sends the key, its own model name, what the client sent and what it does not know', async () => {
    let seen: unknown;
    const upstream = await serviceOf((request, response) => {
      void (async () => {
        let body = '';
        for await (const bytes of request) body += String(bytes);
        seen = { url: request.url, key: request.headers.authorization, body: JSON.parse(body) as unknown };
        streaming([chunk({ content: 'ok' }, 'stop')])(request, response);
      })();
    });
    const turn = turnOf({
      model: 'judge',
      sent: { temperature: 0 },
      extra: { reasoning_effort: 'low' },
      stream: false,
    });
    turn.sampling.temperature = 0;
    await eventsOf(upstream.generate(turn, contextOf()));
    expect(seen).toEqual({
      url: '/v1/chat/completions',
      key: 'Bearer sk-1',
      body: {
        model: 'big',
        messages: [{ role: 'user', content: 'hello' }],
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0,
        reasoning_effort: 'low',
      },
    });
  });

  it.each([
    [429, 429, true],
    [400, 400, false],
    [401, 502, false],
    [503, 502, true],
  ])('turns the status %i into %i', async (theirs, status, retryable) => {
    const upstream = await serviceOf((_, response) => {
      response.writeHead(theirs).end(JSON.stringify({ error: { message: 'no such luck', code: 'luck' } }));
    });
    await expect(eventsOf(upstream.generate(turnOf(), contextOf()))).rejects.toMatchObject({
      status,
      retryable,
      code: 'luck',
      message: `The model service "judge" answered with status ${theirs}: no such luck`,
    });
  });

  it.each([
    ['an end before the answer is finished', [chunk({ content: 'half' })], ''],
    ['an error among the events', [chunk({ content: 'half' }), { error: { message: 'out of memory' } }], ''],
    ['an event that is not JSON', [], 'data: {oops\n\n'],
  ])('reports %s', async (_, events, end) => {
    const upstream = await serviceOf(streaming(events, end));
    await expect(eventsOf(upstream.generate(turnOf(), contextOf()))).rejects.toMatchObject({ code: 'broken_stream' });
  });

  it('reports a reset connection and a service that is not there', async () => {
    const resetting = await serviceOf((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[]}\n\n', () => response.destroy());
    });
    await expect(eventsOf(resetting.generate(turnOf(), contextOf()))).rejects.toMatchObject({
      code: 'upstream_unreachable',
      status: 502,
    });
    const nowhere = createOpenAiUpstream({ name: 'judge', baseUrl: 'http://127.0.0.1:9/v1', modelId: 'big' });
    await expect(eventsOf(nowhere.generate(turnOf(), contextOf()))).rejects.toMatchObject({
      code: 'upstream_unreachable',
    });
  });

  it('closes the connection when the client leaves', async () => {
    const abort = new AbortController();
    let closed: Promise<unknown> = Promise.resolve();
    const upstream = await serviceOf((_, response) => {
      closed = once(response, 'close');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(chunk({ content: 'first' }))}\n\n`);
    });
    const reading = (async () => {
      for await (const event of upstream.generate(turnOf(), contextOf({ signal: abort.signal }))) {
        if (event.type === 'text') abort.abort(new Error('gone'));
      }
    })();
    await expect(reading).rejects.toThrow('gone');
    await closed;
  });
});
