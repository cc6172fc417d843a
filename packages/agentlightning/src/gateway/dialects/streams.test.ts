import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../store/types.ts';
import type { TurnEvent } from '../../upstreams/index.ts';
import { turnOf } from '../../upstreams/testing/turns.ts';
import { Answer } from '../answer.ts';
import { dialects } from '../dialects.ts';
import type { Dialect } from './dialect.ts';

type Said = Extract<TurnEvent, { type: 'text' | 'tool-call' }>;

/** What a client puts together: its text, and its calls in order. */
interface Content {
  text: string;
  calls: string[];
}

const head = { id: 'id-1', model: 'policy', created: 7, turn: turnOf({ wantLogProbs: true }), request: {} };

/** The events of a stream, and the answer of the same events sent whole. */
function both(dialect: Dialect, said: Said[]): { events: JsonObject[]; answer: JsonObject } {
  const stream = dialect.stream(head);
  const answer = new Answer(1);
  let text = '';
  const told: TurnEvent[] = [{ type: 'prompt', ids: Int32Array.of(1, 2) }, ...said];
  const reason = said.some(({ type }) => type === 'tool-call') ? 'tool_calls' : 'stop';
  for (const event of [...told, { type: 'finish' as const, choice: 0, reason, rawText: '' } satisfies TurnEvent]) {
    answer.apply(event);
    text += stream.event(event);
  }
  text += stream.end(answer);
  const events = text.split('\n\n').flatMap((block) => {
    const data = block.split('\n').find((line) => line.startsWith('data: '));
    return data === undefined || data === 'data: [DONE]' ? [] : [JSON.parse(data.slice(6)) as JsonObject];
  });
  return { events, answer: dialect.answer(head, answer) };
}

/** Every text and every call's arguments in a JSON value, by the names that the protocols give to pieces of them. */
function pieces(value: Json, names: { text: string[]; call: string[] }, found: Content): Content {
  if (Array.isArray(value)) for (const member of value) pieces(member, names, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (names.text.includes(name) && typeof member === 'string') found.text += member;
      else if (names.call.includes(name)) {
        found.calls.push(JSON.stringify(typeof member === 'string' ? JSON.parse(member) : member));
      } else pieces(member, names, found);
    }
  }
  return found;
}

const empty = (): Content => ({ text: '', calls: [] });

/** How to read the pieces of a stream, and of the whole answer. */
const readers: { [dialect: string]: { stream(events: JsonObject[]): Content; answer(body: JsonObject): Content } } = {
  chat: sameNames(['content'], ['arguments']),
  completions: sameNames(['text'], ['arguments']),
  gemini: sameNames(['text'], ['args']),
  responses: {
    stream: (events) => ({
      text: events
        .map((event) => (event.type === 'response.output_text.delta' ? (event.delta as string) : ''))
        .join(''),
      calls: events
        .filter((event) => event.type === 'response.function_call_arguments.delta')
        .map((event) => JSON.stringify(JSON.parse(event.delta as string))),
    }),
    answer: (body) => pieces(body.output ?? null, { text: ['text'], call: ['arguments'] }, empty()),
  },
  messages: {
    stream: (events) =>
      pieces(
        events.map((event) => event.delta ?? null),
        { text: ['text'], call: ['partial_json'] },
        empty(),
      ),
    answer: (body) => pieces(body.content ?? null, { text: ['text'], call: ['input'] }, empty()),
  },
};

function sameNames(text: string[], call: string[]) {
  const read = (body: Json) => pieces(body, { text, call }, empty());
  return { stream: read, answer: read };
}

const call = (id: number): Said => ({
  ...{ type: 'tool-call', choice: 0, call: { id: `call_${id}`, name: 'add', arguments: `{"a":  ${id}}` } },
});

describe.each(dialects)('the stream of $name', (dialect) => {
  const reader = readers[dialect.name];
  if (reader === undefined) throw new Error(`No reader for ${dialect.name}`);
  const speech = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.string({ unit: 'grapheme', minLength: 1 }) },
      // A raw prompt offers no tools.
      ...(dialect.name === 'completions' ? [] : [{ weight: 1, arbitrary: fc.nat(9) }]),
    ),
    { maxLength: 8 },
  );

  it('says the same, however its text is cut, as the answer in one piece', () => {
    fc.assert(
      fc.property(speech, fc.integer({ min: 1, max: 3 }), (said, size) => {
        const whole = said.map((part): Said => (typeof part === 'number' ? call(part) : text(part)));
        const cut = said.flatMap((part) => (typeof part === 'number' ? [call(part)] : chunks(part, size).map(text)));
        const expected: Content = {
          text: said.filter((part) => typeof part === 'string').join(''),
          calls: said.filter((part) => typeof part === 'number').map((id) => `{"a":${id}}`),
        };
        for (const events of [whole, cut]) {
          const { events: sent, answer } = both(dialect, events);
          expect(reader.stream(sent)).toEqual(expected);
          expect(reader.answer(answer)).toEqual(expected);
        }
        expect(both(dialect, cut).answer).toEqual(both(dialect, whole).answer);
      }),
    );
  });

  it('ends with its own kind of error when it breaks', () => {
    const problem = { status: 502, code: 'broken_stream', message: 'It broke.', field: null, retryable: true };
    const stream = dialect.stream(head);
    const text = `${stream.event({ type: 'text', choice: 0, text: 'a' })}${stream.error(problem)}`;
    const last = text.split('\n').findLast((line) => line.startsWith('data: ')) ?? '';
    expect(JSON.parse(last.slice(6))).toMatchObject(dialect.error(problem));
    expect(text.endsWith('\n\n')).toBe(true);
  });
});

function text(part: string): Said {
  return { type: 'text', choice: 0, text: part };
}

function chunks(part: string, size: number): string[] {
  const characters = Array.from(part);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}
