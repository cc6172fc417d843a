import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../store/types.ts';
import type { Turn, TurnEvent } from '../../upstreams/index.ts';
import { turnOf } from '../../upstreams/testing/turns.ts';
import { Answer } from '../answer.ts';
import { chat } from './chat.ts';

interface Chunk {
  choices: {
    index: number;
    delta: JsonObject;
    logprobs: { content: JsonObject[] } | null;
    finish_reason: string | null;
    token_ids?: number[];
  }[];
  usage?: JsonObject | null;
  prompt_token_ids?: number[];
}

function streamOf(turn: Turn, events: TurnEvent[]): { chunks: Chunk[]; answer: JsonObject } {
  const head = { id: 'id-1', model: 'policy', created: 7, turn, request: {} };
  const stream = chat.stream(head);
  const answer = new Answer(turn.n);
  let text = '';
  for (const event of events) {
    answer.apply(event);
    text += stream.event(event);
  }
  text += stream.end(answer);
  const data = text.split('\n\n').filter(Boolean);
  expect(data.pop()).toBe('data: [DONE]');
  const chunks = data.map((line) => JSON.parse(line.slice('data: '.length)) as Chunk);
  for (const chunk of chunks) {
    expect(chunk).toMatchObject({ id: 'chatcmpl-id-1', object: 'chat.completion.chunk', created: 7, model: 'policy' });
  }
  return { chunks, answer: chat.answer(head, answer) };
}

const call = { id: 'call_1', name: 'add', arguments: '{"a":1}' };
const events: TurnEvent[] = [
  { type: 'prompt', ids: Int32Array.of(1, 2, 3) },
  { type: 'tokens', choice: 0, ids: [10], logProbs: [-0.5], policyVersion: 1, texts: ['\uFFFD'] },
  { type: 'tokens', choice: 0, ids: [11], logProbs: [-0.25], policyVersion: 1, texts: ['"é'] },
  { type: 'text', choice: 0, text: '"é' },
  { type: 'tokens', choice: 0, ids: [12, 13], logProbs: [-1, -2], policyVersion: 1, texts: ['a', 'b'] },
  { type: 'tool-call', choice: 0, call },
  { type: 'tool-call', choice: 0, call: { ...call, id: 'call_2' } },
  { type: 'finish', choice: 0, reason: 'tool_calls', rawText: '…' },
];

describe('the chat stream', () => {
  it('sends role, content, tool calls and finish reason as OpenAI does', () => {
    const { chunks } = streamOf(turnOf(), events);
    expect(chunks.map(({ choices }) => [choices[0]?.delta, choices[0]?.finish_reason])).toEqual([
      [{ role: 'assistant', content: '' }, null],
      [{ content: '"é' }, null],
      [
        { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }] },
        null,
      ],
      [
        { tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }] },
        null,
      ],
      [{}, 'tool_calls'],
    ]);
    expect(chunks.every((chunk) => !('usage' in chunk) && !('prompt_token_ids' in chunk))).toBe(true);
    expect(chunks.every(({ choices }) => choices[0]?.logprobs === null && !('token_ids' in choices[0]))).toBe(true);
  });

  it('sends usage last when it is asked for', () => {
    const { chunks, answer } = streamOf(turnOf({ includeUsage: true }), events);
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    });
    expect(answer.usage).toEqual(chunks.at(-1)?.usage);
  });

  it('sends each log prob and id once, in order, with the text that they made', () => {
    const { chunks, answer } = streamOf(turnOf({ wantLogProbs: true, extra: { return_token_ids: true } }), events);
    const choices = chunks.flatMap((chunk) => chunk.choices);
    const sent = choices.flatMap((choice) => choice.logprobs?.content ?? []);
    expect(sent.map(({ token, logprob, bytes }) => [token, logprob, bytes])).toEqual([
      ['\uFFFD', -0.5, null],
      ['"é', -0.25, [34, 0xc3, 0xa9]],
      ['a', -1, [97]],
      ['b', -2, [98]],
    ]);
    expect(choices.map((choice) => choice.token_ids)).toEqual([undefined, [10, 11], [12, 13], [], []]);
    expect(chunks[0]?.prompt_token_ids).toEqual([1, 2, 3]);
    expect(answer).toMatchObject({
      prompt_token_ids: [1, 2, 3],
      choices: [{ token_ids: [10, 11, 12, 13], logprobs: { content: sent } }],
    });
  });

  it('adds up to the JSON answer, whatever is said in whatever order', () => {
    const event = fc.oneof(
      fc.record({
        type: fc.constant('text' as const),
        choice: fc.nat(2),
        text: fc.string({ unit: 'grapheme', minLength: 1 }),
      }),
      fc.record({ type: fc.constant('tool-call' as const), choice: fc.nat(2), call: fc.constant(call) }),
    );
    fc.assert(
      fc.property(fc.array(event), (said) => {
        const finish = [0, 1, 2].map((choice) => ({
          type: 'finish' as const,
          choice,
          reason: 'stop' as const,
          rawText: '',
        }));
        const { chunks, answer } = streamOf(turnOf({ n: 3 }), [{ type: 'prompt', ids: null }, ...said, ...finish]);
        for (const choice of [0, 1, 2]) {
          const deltas = chunks.flatMap(({ choices }) => choices.filter(({ index }) => index === choice));
          const whole = (answer.choices as { message: JsonObject; finish_reason: string }[])[choice];
          expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe(whole?.message.content ?? '');
          expect(deltas.filter(({ delta }) => 'tool_calls' in delta)).toHaveLength(
            ((whole?.message.tool_calls as unknown[]) ?? []).length,
          );
          expect(deltas.filter(({ finish_reason }) => finish_reason !== null)).toHaveLength(1);
        }
      }),
    );
  });
});
