import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Call, JsonObject, Span } from '../store/types.ts';
import { joinCalls } from './join-calls.ts';
import { nameCalls } from './name-calls.ts';
import { callOf, spanOf } from './span.test.support.ts';

/** A span of a request; `at` and `to` are its times. */
function request(id: string, at: number, to: number, attributes: JsonObject = {}, change: Partial<Span> = {}): Span {
  return spanOf({
    spanId: id.padStart(16, '0'),
    startedAt: at,
    endedAt: to,
    attributes: { 'gen_ai.operation.name': 'chat', ...attributes },
    ...change,
  });
}

const answered = (text: string): JsonObject => ({
  'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: text }] }]),
});
const named = (call: string): JsonObject => ({ 'gen_ai.response.id': `chatcmpl-${call}` });
const within = (parent: string): Partial<Span> => ({ parentSpanId: parent.padStart(16, '0') });
const agent = (id: string, name: string, at = 0, to = 1000): Span =>
  spanOf({
    spanId: id.padStart(16, '0'),
    startedAt: at,
    endedAt: to,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name },
  });

/** Which spans each call has, and how they were found. */
function joined(calls: Call[], spans: Span[]) {
  const { calls: seen, unplaced } = joinCalls(calls, spans);
  return {
    seen: seen.map(({ call, joinedBy, sighting }) => [
      call?.id ?? null,
      joinedBy,
      sighting?.nodes.map(({ span }) => span.spanId.replace(/^0+/, '')) ?? [],
    ]),
    unplaced: unplaced.map(({ spanId }) => spanId.replace(/^0+/, '')),
  };
}

describe('a span and its call', () => {
  it('are found by the id of the answer, whatever the clocks say', () => {
    const calls = [callOf('a', 100, 'x'), callOf('b', 200, 'x')];
    const spans = [request('1', 9_000_000, 9_000_001, named('b')), request('2', 1, 2, named('a'))];
    expect(joined(calls, spans).seen).toEqual([
      ['a', 'response_id', ['2']],
      ['b', 'response_id', ['1']],
    ]);
  });

  it('are found by time without an id: the call that began while the span lasted', () => {
    const calls = [callOf('a', 100, 'x'), callOf('b', 200, 'y')];
    expect(joined(calls, [request('1', 99, 110), request('2', 195.5, 210)]).seen).toEqual([
      ['a', 'time', ['1']],
      ['b', 'time', ['2']],
    ]);
  });

  it('are told apart by the answer when several calls began in that time', () => {
    const calls = [callOf('a', 100, 'x'), callOf('b', 101, 'y')];
    const spans = [request('1', 99, 110, answered('y')), request('2', 99, 111, answered('x'))];
    expect(joined(calls, spans).seen).toEqual([
      ['a', 'time', ['2']],
      ['b', 'time', ['1']],
    ]);
  });

  it('are left apart when nothing tells them, and the span is not counted as another call', () => {
    const calls = [callOf('a', 100, 'x'), callOf('b', 101, 'y')];
    expect(joined(calls, [request('1', 99, 110), request('2', 99, 110)])).toEqual({
      seen: [
        ['a', null, []],
        ['b', null, []],
      ],
      unplaced: ['1', '2'],
    });
  });

  it('are not found by time when the clock is a day off', () => {
    const skewed = { 'agentlightning.clock_skew_ms': 86_400_000 };
    expect(joined([callOf('a', 100, 'x')], [request('1', 99, 110, { ...skewed, ...answered('x') })])).toEqual({
      seen: [['a', null, []]],
      unplaced: ['1'],
    });
    expect(joined([callOf('a', 100, 'x')], [request('1', 9, 9, { ...skewed, ...named('a') })]).seen).toEqual([
      ['a', 'response_id', ['1']],
    ]);
  });

  it('are two when the span names another answer, says something else, or lies elsewhere in time', () => {
    const calls = [callOf('a', 100, 'x')];
    for (const span of [
      request('1', 99, 110, { 'gen_ai.response.id': 'chatcmpl-other' }),
      request('1', 99, 110, answered('something else')),
      request('1', 5000, 5010),
    ]) {
      expect(joined(calls, [span]).seen).toHaveLength(2);
    }
  });
});

describe('one call that several spans tell of', () => {
  const calls = [callOf('a', 100, 'x'), callOf('b', 200, 'y')];

  it('is counted once: framework around client, by nesting or by the id of the answer', () => {
    const spans = [
      request('1', 90, 120),
      request('2', 95, 119, named('a'), within('1')),
      request('3', 190, 220, named('b'), { scope: 'one' }),
      request('4', 195, 219, named('b'), { scope: 'two' }),
    ];
    expect(joined(calls, spans).seen).toEqual([
      ['a', 'response_id', ['1', '2']],
      ['b', 'response_id', ['3', '4']],
    ]);
  });

  it('is counted once when two instrumentations do not know of each other and only one has the id', () => {
    const spans = [
      request('1', 90, 120, answered('x'), { scope: 'framework' }),
      request('2', 95, 119, { ...answered('x'), ...named('a') }, { scope: 'client' }),
    ];
    expect(joined(calls.slice(0, 1), spans).seen).toEqual([['a', 'response_id', ['1', '2']]]);
    expect(joined([], spans).seen).toHaveLength(1);
  });

  it('does not count a span around several calls', () => {
    const spans = [
      request('1', 90, 220, answered('y')),
      request('2', 95, 119, named('a'), within('1')),
      request('3', 195, 219, named('b'), within('1')),
    ];
    expect(joined(calls, spans).seen).toEqual([
      ['a', 'response_id', ['2']],
      ['b', 'response_id', ['3']],
    ]);
  });

  it('is two calls when an agent or a tool lies between', () => {
    const spans = [
      request('1', 90, 220, named('a')),
      agent('2', 'inner'),
      request('3', 195, 219, named('b'), within('2')),
    ];
    spans[1] = { ...spans[1]!, ...within('1') };
    expect(joined(calls, spans).seen).toHaveLength(2);
    expect(
      joined(
        [],
        spans.map((span) => ({ ...span, attributes: { ...span.attributes, 'gen_ai.response.id': '' } })),
      ).seen,
    ).toHaveLength(2);
  });

  it('is independent of the order in which spans arrive, and of rings of parents', () => {
    const spans = [
      agent('9', 'writer', 1),
      request('1', 90, 120, {}, within('9')),
      request('2', 95, 119, named('a'), within('1')),
      request('3', 190, 220, {}, within('9')),
      request('4', 0, 500, named('b'), within('5')),
      request('5', 0, 500, {}, within('4')),
    ];
    const expected = joined(calls, spans);
    fc.assert(
      fc.property(fc.shuffledSubarray(spans, { minLength: spans.length }), (shuffled) => {
        const found = joined(calls, shuffled);
        expect(found.seen.map(([id, by]) => [id, by])).toEqual(expected.seen.map(([id, by]) => [id, by]));
      }),
    );
  });
});

describe('the name of an agent', () => {
  const spans = [
    agent('8', 'team'),
    { ...agent('9', 'writer'), ...within('8') },
    request('1', 99, 110, named('a'), within('9')),
    request('2', 199, 210, { ...named('b'), 'gen_ai.agent.name': 'critic' }, within('9')),
  ];

  it('comes from the span or the nearest around it, never in place of a recorded one, and the record stays', () => {
    const calls = [callOf('a', 100, 'x'), callOf('b', 200, 'y'), callOf('c', 300, 'z')];
    const before = structuredClone(calls);
    expect(nameCalls(calls, spans).map(({ agentName }) => agentName)).toEqual(['writer', 'critic', null]);
    expect(calls).toEqual(before);
    const own = [callOf('a', 100, 'x', { agentName: 'by path' }), callOf('b', 200, 'y')];
    expect(nameCalls(own, spans).map(({ agentName }) => agentName)).toEqual(['by path', 'critic']);
    expect(joinCalls(own, spans).calls.map(({ agentName }) => agentName)).toEqual(['by path', 'critic']);
  });

  it('needs no spans', () => {
    expect(nameCalls([callOf('a', 1, 'x')], []).map(({ agentName }) => agentName)).toEqual([null]);
  });
});
