import { describe, expect, it } from 'vitest';
import type { Call, JsonObject, Span } from '../store/types.ts';
import { callOf, spanOf } from '../tracing/span.test.support.ts';
import { findFaults, readTurns } from './turns.ts';

const tools = [{ type: 'function', function: { name: 'add', parameters: { type: 'object', required: ['x'] } } }];
const asks = (id: string, name: string, text: string): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: text } }],
});
const asking = (id: string, startedAt: number, message: JsonObject): Call =>
  callOf(id, startedAt, 'xx', {
    request: { messages: [{ role: 'user', content: 'go' }], tools },
    response: { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
  });
const toolSpan = (id: string, startedAt: number, more: Partial<Span> = {}): Span =>
  spanOf({
    spanId: id.padEnd(16, '0'),
    name: 'execute_tool add',
    startedAt,
    endedAt: startedAt + 1,
    attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'add', 'gen_ai.tool.call.id': id },
    ...more,
  });
const raised = (time: number): Span['events'] => [
  { name: 'exception', time, attributes: { 'exception.message': 'no number in the answer' } },
];
const attemptWith = (calls: Call[], spans: Span[]) => ({
  attempt: {} as never,
  rewards: [],
  calls,
  spans,
});

describe('turns of an attempt', () => {
  const calls = [
    asking('a', 10, asks('t1', 'add', '{"x": 1}')),
    asking('b', 20, asks('t2', 'multiply', '{}')),
    callOf('c', 30, 'done'),
  ];
  const spans = [
    toolSpan('t1', 12, { status: 'error', statusMessage: 'overflow' }),
    spanOf({ spanId: 'd'.repeat(16), name: 'parse', startedAt: 31, endedAt: 40, events: raised(35) }),
    spanOf({ spanId: 'e'.repeat(16), name: 'start', startedAt: 1, endedAt: 2, events: raised(1) }),
  ];

  it('join record and spans: tools with their schema and error, exceptions by the call before', () => {
    expect(readTurns(attemptWith(calls, spans))).toEqual([
      {
        callId: 'a',
        agentName: null,
        sampledTokens: 2,
        hasTools: true,
        tools: [{ name: 'add', arguments: '{"x": 1}', schema: tools[0]!.function.parameters, error: 'overflow' }],
        exceptions: [],
      },
      expect.objectContaining({
        callId: 'b',
        tools: [{ name: 'multiply', arguments: '{}', schema: undefined, error: null }],
      }),
      expect.objectContaining({ callId: 'c', sampledTokens: 4, tools: [], exceptions: ['no number in the answer'] }),
    ]);
  });

  it('give faults to people by the rules that are on', () => {
    const on = (rule: 'tool-error' | 'exception' | 'invalid-arguments') => ({ rule, weight: 1, limit: 1, buffer: 0 });
    const settings = { discount: 0, fadeSteps: 0, rules: [on('tool-error'), on('exception'), on('invalid-arguments')] };
    expect(findFaults(attemptWith(calls, spans), settings)).toEqual([
      { callId: 'a', rule: 'tool-error', value: -1 },
      { callId: 'c', rule: 'exception', value: -1 },
      { callId: 'b', rule: 'invalid-arguments', value: -1 },
    ]);
    expect(findFaults(attemptWith(calls, spans), { ...settings, rules: [] })).toEqual([]);
  });

  it('are there for calls that failed, and do not hear late spans', () => {
    const failed = callOf('a', 10, '', { response: null, choices: [], error: 'gone' });
    const [turn] = readTurns(attemptWith([failed], [{ ...spans[1]!, late: true }]));
    expect(turn).toMatchObject({ callId: 'a', sampledTokens: 0, tools: [], exceptions: [] });
    expect(readTurns(attemptWith([], spans))).toEqual([]);
  });
});
