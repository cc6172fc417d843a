import { once } from 'node:events';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { StoreError } from '../store/errors.ts';
import { spellOut } from '../upstreams/testing/byte-text.ts';
import { type ScriptedEngine, say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type GatewaySettings, type StartedGateway, startGateway } from './testing/started-gateway.ts';

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'hi' }];

let gateway: StartedGateway;
afterEach(() => gateway.close());

/** Says five tokens and then waits for `resume`, or for ever. */
function stallingEngine(): { engine: ScriptedEngine; stalled: Promise<void>; resume: () => void } {
  let reached = () => {};
  let resume = () => {};
  const stalled = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const engine = scriptedEngine(() => say('hello world'), {
    beforeToken: async (index) => {
      if (index !== 5) return;
      reached();
      await resumed;
    },
  });
  return { engine, stalled, resume };
}

async function attemptOf(engine: ScriptedEngine, settings: GatewaySettings = {}) {
  gateway = await startGateway(engine, settings);
  const attempt = await gateway.attempt();
  const client = new OpenAI({ apiKey: attempt.token, baseURL: `${gateway.server.url}/v1`, maxRetries: 0 });
  return { attempt, client };
}

async function recorded(attemptId: string) {
  for (;;) {
    const calls = await gateway.store.listCalls(attemptId);
    if (calls.length > 0) return calls;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a call that is cut short', () => {
  it.each([true, false])(
    'is cancelled when the client leaves, and what there was is kept (streamed: %s)',
    async (stream) => {
      const { engine, stalled, resume } = stallingEngine();
      const { attempt, client } = await attemptOf(engine);
      const abort = new AbortController();
      const asking = client.chat.completions
        .create({ model: 'policy', messages, stream }, { signal: abort.signal })
        .then(async (answer) => {
          if (Symbol.asyncIterator in answer) for await (const _ of answer);
        })
        .catch(() => {});
      await stalled;
      // The engine looks at its signal after the server has seen the connection close.
      const left = watchAbort(engine);
      abort.abort();
      await left;
      resume();
      await asking;
      const [call] = await recorded(attempt.attemptId);
      expect(call).toMatchObject({
        untrainable: 'cancelled',
        error: 'client_left: The client closed the connection.',
        choices: [{ tokenIds: Int32Array.from(say('hello world').slice(0, 5)), finishReason: 'cancelled' }],
      });
      expect(engine.cancelled).toBe(1);
    },
  );

  it('is aborted when its attempt ends, and recorded before the session has closed', async () => {
    const { engine, stalled, resume } = stallingEngine();
    const { attempt, client } = await attemptOf(engine);
    const asking = client.chat.completions.create({ model: 'policy', messages });
    const refused = expect(asking).rejects.toMatchObject({ status: 401, code: 'attempt_ended' });
    await stalled;
    const closing = gateway.sessions.close(attempt.attemptId);
    resume();
    await closing;
    expect(await gateway.store.listCalls(attempt.attemptId)).toMatchObject([{ untrainable: 'cancelled' }]);
    await refused;
  });

  it('may finish while the server closes', async () => {
    const { engine, stalled, resume } = stallingEngine();
    const { client } = await attemptOf(engine);
    const asking = client.chat.completions.create({ model: 'policy', messages });
    await stalled;
    const closing = gateway.server.close({ graceMs: 60_000 });
    resume();
    expect((await asking).choices[0]?.message.content).toBe('hello world');
    await closing;
  });

  it('lets the attempt report its reward meanwhile, while new calls are told to come again', async () => {
    const { engine, stalled, resume } = stallingEngine();
    const { attempt, client } = await attemptOf(engine);
    const asking = client.chat.completions.create({ model: 'policy', messages });
    await stalled;
    const closing = gateway.server.close({ graceMs: 60_000 });
    const post = (path: string, body: object) =>
      fetch(`${gateway.server.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${attempt.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const refused = await post('/v1/messages', { model: 'policy', messages });
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('x-should-retry')]).toEqual([
      ...[503, '1', null],
    ]);
    expect(await refused.json()).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
    expect((await post('/agl/v1/rewards', { value: 1 })).status).toBe(201);
    expect((await fetch(`${gateway.server.url}/readyz`)).status).toBe(503);
    resume();
    await asking;
    await closing;
    expect(await gateway.store.listCalls(attempt.attemptId)).toHaveLength(1);
    await expect(fetch(`${gateway.server.url}/healthz`)).rejects.toThrow();
  });

  it('is aborted when the server can wait no longer', async () => {
    const { engine, stalled, resume } = stallingEngine();
    const { attempt, client } = await attemptOf(engine);
    const asking = client.chat.completions.create({ model: 'policy', messages });
    const refused = expect(asking).rejects.toMatchObject({ status: 503, code: 'shutting_down' });
    await stalled;
    const left = watchAbort(engine);
    const closing = gateway.server.close({ graceMs: 0 });
    await left;
    resume();
    await closing;
    await refused;
    expect(await gateway.store.listCalls(attempt.attemptId)).toMatchObject([{ untrainable: 'cancelled' }]);
  });
});

describe('a call that fails', () => {
  it.each([
    ['before the first byte', 0, 'upstream_error'],
    ['in mid stream', 3, 'broken_stream'],
  ])('is reported and recorded: %s', async (_, tokens, untrainable) => {
    const engine = scriptedEngine(() => spellOut('hello'), {
      beforeToken: async (index) => {
        if (index === tokens) throw new Error('no memory');
      },
    });
    const { attempt, client } = await attemptOf(engine);
    const read = async () => {
      for await (const _ of await client.chat.completions.create({ model: 'policy', messages, stream: true }));
    };
    await expect(read()).rejects.toMatchObject({ code: 'engine_failed' });
    const [call] = await recorded(attempt.attemptId);
    expect(call).toMatchObject({ untrainable, response: null, error: expect.stringContaining('no memory') as string });
    expect(call?.choices[0]?.tokenIds).toHaveLength(tokens);
  });

  it.each([true, false])('is never answered when it cannot be recorded (streamed: %s)', async (stream) => {
    const full = new StoreError({ code: 'disk_full', message: 'The disk is full.' });
    const fail = () => Promise.reject(full);
    const reading = { getAttempt: fail, getResource: fail, latestResources: fail };
    const store = { recordCall: fail, listCalls: fail, addReward: fail, addSpans: fail, ...reading };
    const { client } = await attemptOf(
      scriptedEngine(() => say('ok')),
      { store },
    );
    let text = '';
    const read = async () => {
      const answer = await client.chat.completions.create({ model: 'policy', messages, stream });
      if (!(Symbol.asyncIterator in answer)) return;
      for await (const chunk of answer) {
        text += chunk.choices[0]?.delta.content ?? '';
        expect(chunk.choices[0]?.finish_reason).toBeNull();
      }
    };
    await expect(read()).rejects.toMatchObject({ code: 'not_recorded', ...(stream ? {} : { status: 503 }) });
    expect(text).toBe(stream ? 'ok' : '');
    expect(gateway.fatal).toEqual([full]);
  });
});

/** Resolves when the engine's running request has been told to stop. */
function watchAbort(engine: ScriptedEngine): Promise<unknown> {
  const signal = engine.signals.at(-1);
  return signal === undefined ? Promise.reject(new Error('no request runs')) : once(signal, 'abort');
}
