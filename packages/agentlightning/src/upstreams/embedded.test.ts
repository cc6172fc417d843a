import { describe, expect, it } from 'vitest';
import { createEmbeddedUpstream } from './embedded.ts';
import { endOfTurnId, spellOut } from './testing/byte-text.ts';
import { byteModel, logProbOf, type Script, say, scriptedEngine } from './testing/scripted-engine.ts';
import { contextOf, eventsOf, idsOf, textOf, turnOf } from './testing/turns.ts';

const tools = [{ name: 'add', parameters: { type: 'object' } }];
const call = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>';

function upstreamOf(script: Script, options?: Parameters<typeof scriptedEngine>[1]) {
  const engine = scriptedEngine(script, options);
  return { engine, upstream: createEmbeddedUpstream({ ...byteModel, engine }) };
}

describe('the embedded upstream', () => {
  it('tells prompt, tokens, whole characters and the end', async () => {
    const { engine, upstream } = upstreamOf(() => say('né 😀!'));
    const events = await eventsOf(upstream.generate(turnOf(), contextOf()));
    expect(events[0]).toEqual({ type: 'prompt', ids: engine.requests[0]?.promptIds, maxTokens: 4096 - 22 });
    expect(idsOf(events)).toEqual(say('né 😀!'));
    const texts = events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
    expect(texts).toEqual(['n', 'é', ' ', '😀', '!']);
    expect(events.at(-1)).toEqual({ type: 'finish', choice: 0, reason: 'stop', rawText: 'né 😀!' });
  });

  it('tells the same of an answer that is not streamed, in fewer events', async () => {
    const { upstream } = upstreamOf(() => say(`Well.${call}`), { versionOf: (index) => (index < 3 ? 1 : 2) });
    const streamed = await eventsOf(upstream.generate(turnOf({ tools }), contextOf()));
    const whole = await eventsOf(upstream.generate(turnOf({ tools, stream: false }), contextOf()));
    expect(idsOf(whole)).toEqual(idsOf(streamed));
    expect(textOf(whole)).toBe(textOf(streamed));
    expect(whole.at(-1)).toEqual(streamed.at(-1));
    expect(
      whole.flatMap((event) => (event.type === 'tokens' ? [[event.ids.length, event.policyVersion]] : [])),
    ).toEqual([
      [3, 1],
      [say(`Well.${call}`).length - 3, 2],
    ]);
  });

  it('cuts tool calls out only when tools were offered and may be called', async () => {
    const { upstream } = upstreamOf(() => say(call));
    const calls = async (turn: Parameters<typeof turnOf>[0]) =>
      (await eventsOf(upstream.generate(turnOf(turn), contextOf()))).filter((event) => event.type === 'tool-call');
    expect(await calls({ tools })).toEqual([
      { type: 'tool-call', choice: 0, call: { id: 'call_0_0', name: 'add', arguments: '{"a": 1}' } },
    ]);
    expect(await calls({})).toEqual([]);
    expect(await calls({ tools, toolChoice: 'none' })).toEqual([]);
  });

  it('ends before a stop text, and keeps the ids that reach into it', async () => {
    const { upstream } = upstreamOf(() => say('one. two. three'));
    const turn = turnOf();
    turn.sampling.stop = ['. t'];
    const events = await eventsOf(upstream.generate(turn, contextOf()));
    expect(textOf(events)).toBe('one');
    expect(idsOf(events)).toEqual(spellOut('one. t'));
    expect(events.at(-1)).toEqual({ type: 'finish', choice: 0, reason: 'stop', rawText: 'one' });
  });

  it('bounds an answer by the context, and refuses a prompt that fills it', async () => {
    const tight = upstreamOf(() => spellOut('abcdefgh'), { maxTokens: 25 });
    const events = await eventsOf(tight.upstream.generate(turnOf(), contextOf()));
    expect(events[0]).toMatchObject({ type: 'prompt', maxTokens: 3 });
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'length', rawText: 'abc' });

    const full = upstreamOf(() => [], { maxTokens: 22 });
    await expect(eventsOf(full.upstream.generate(turnOf(), contextOf()))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      category: 'agent',
      status: 400,
    });
    expect(full.engine.requests).toEqual([]);
  });

  it('samples each choice with a seed of its own, the same each time', async () => {
    const { engine, upstream } = upstreamOf((request) => say(`seed ${request.seed}`));
    const events = await eventsOf(upstream.generate(turnOf({ n: 3 }), contextOf()));
    await eventsOf(upstream.generate(turnOf({ n: 3 }), contextOf()));
    const seeds = engine.requests.map((request) => request.seed);
    expect(seeds.slice(0, 3)).toEqual(seeds.slice(3));
    expect(new Set(seeds).size).toBe(3);
    expect([0, 1, 2].map((choice) => textOf(events, choice))).toEqual(seeds.slice(0, 3).map((seed) => `seed ${seed}`));
  });

  it('stops the engine when the client leaves, and tells what there was', async () => {
    const abort = new AbortController();
    const { engine, upstream } = upstreamOf(() => say('a long answer'), {
      beforeToken: async (index) => {
        if (index === 4) abort.abort(new Error('gone'));
      },
    });
    const seen: number[] = [];
    const reading = (async () => {
      for await (const event of upstream.generate(turnOf(), contextOf({ signal: abort.signal }))) {
        if (event.type === 'tokens') seen.push(...event.ids);
      }
    })();
    await expect(reading).rejects.toThrow('gone');
    expect(seen).toEqual(spellOut('a lo'));
    expect(engine.cancelled).toBe(1);
  });

  it('stops the other choices when one fails or the reader leaves', async () => {
    const failing = upstreamOf((_, index) => (index === 1 ? fail() : say('fine')));
    await expect(eventsOf(failing.upstream.generate(turnOf({ n: 3 }), contextOf()))).rejects.toMatchObject({
      code: 'engine_failed',
      message: expect.stringContaining('no memory') as string,
    });
    expect(failing.engine.cancelled).toBe(2);

    const left = upstreamOf(() => say('fine'));
    for await (const event of left.upstream.generate(turnOf(), contextOf())) if (event.type === 'text') break;
    await new Promise((resolve) => setImmediate(resolve));
    expect(left.engine.cancelled).toBe(1);
  });

  it('names the text of each token when log probs are wanted', async () => {
    const { upstream } = upstreamOf(() => [...spellOut('é'), endOfTurnId]);
    const events = await eventsOf(upstream.generate(turnOf({ wantLogProbs: true, stream: false }), contextOf()));
    expect(events[1]).toEqual({
      type: 'tokens',
      choice: 0,
      ids: [0xc3, 0xa9, endOfTurnId],
      logProbs: [0xc3, 0xa9, endOfTurnId].map(logProbOf),
      policyVersion: 1,
      texts: ['\uFFFD', '\uFFFD', '<|im_end|>'],
    });
  });

  it('tells a client that its messages do not suit the template', async () => {
    const template = {
      render: () => {
        throw Object.assign(new Error('roles must alternate'), { code: 'chat_template_failed', category: 'user' });
      },
    };
    const upstream = createEmbeddedUpstream({ ...byteModel, template, engine: scriptedEngine(() => []) });
    await expect(eventsOf(upstream.generate(turnOf(), contextOf()))).rejects.toMatchObject({
      status: 400,
      code: 'chat_template_failed',
    });
  });
});

function fail(): never {
  throw new Error('no memory');
}
