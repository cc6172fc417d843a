import { describe, expect, it } from 'vitest';
import type { JsonObject, Span } from '../store/types.ts';
import { joinCalls } from './join-calls.ts';
import { callOf, spanOf } from './span.test.support.ts';
import { toolRuns } from './tool-runs.ts';

const id = (digit: string) => digit.padStart(16, '0');
const tool = (digit: string, attributes: JsonObject, more: Partial<Span> = {}) =>
  spanOf({
    spanId: id(digit),
    startedAt: Number(digit),
    attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'lookup', ...attributes },
    ...more,
  });
const asked = (...calls: [string, string][]) =>
  callOf('a', 0, '', {
    response: {
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            tool_calls: calls.map(([callId, given]) => ({
              id: callId,
              type: 'function',
              function: { name: 'lookup', arguments: given },
            })),
          },
        },
      ],
    },
  });

function runs(spans: Span[], ...calls: [string, string][]) {
  const joined = joinCalls([asked(...calls)], spans);
  return toolRuns(joined.nodes, joined.calls);
}

describe('toolRuns', () => {
  it('counts a run once that two instrumentations saw, and puts together what they know', () => {
    const spans = [
      tool('1', { 'gen_ai.tool.call.arguments': '{"n":1}', 'gen_ai.tool.call.result': '7' }),
      tool('2', { 'gen_ai.tool.call.id': 'c1' }, { parentSpanId: id('1') }),
    ];
    expect(runs(spans, ['c1', '{"n": 1}'])).toMatchObject([
      { name: 'lookup', callId: 'c1', arguments: '{"n": 1}', result: '7', error: null },
    ]);
  });

  it('is two runs when a tool uses another tool', () => {
    const spans = [tool('1', {}), tool('2', { 'gen_ai.tool.name': 'fetch' }, { parentSpanId: id('1') })];
    expect(runs(spans).map(({ name }) => name)).toEqual(['lookup', 'fetch']);
  });

  it('finds what the model asked for without an id: equal arguments first, then the order', () => {
    const given = (digit: string, text: string) => tool(digit, { 'gen_ai.tool.call.arguments': text });
    const spans = [given('1', '{"n":2}'), given('2', '{"n":1}'), given('3', 'unknown')];
    const found = runs(spans, ['c1', '{"n": 1}'], ['c2', '{"n": 2}'], ['c3', '{"n": 3}']);
    expect(found.map(({ callId }) => callId)).toEqual(['c2', 'c1', 'c3']);
  });

  it.each<[Partial<Span>, string]>([
    [{ status: 'error', statusMessage: 'no such city' }, 'no such city'],
    [
      { status: 'error', events: [{ name: 'exception', time: 1, attributes: { 'exception.message': 'timed out' } }] },
      'timed out',
    ],
    [{ status: 'error' }, 'error'],
  ])('tells the error', (change, error) => {
    expect(runs([tool('1', {}, change)])).toMatchObject([{ error, result: null }]);
  });
});
