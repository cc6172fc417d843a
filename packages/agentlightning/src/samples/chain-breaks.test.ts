import { describe, expect, it } from 'vitest';
import type { Call, JsonObject } from '../store/types.ts';
import { buildChains } from './chains.ts';
import { callOf } from './fixtures.test.support.ts';

/** Each character is a token; `tok(…)` with a merged piece stands for another way to cut the same text. */
const merged = ['', '<think>', '</think>', 'hello', 'lo'];
const tok = (text: string, pieces: readonly string[] = []): number[] => {
  const ids: number[] = [];
  for (let at = 0; at < text.length; ) {
    const piece = pieces.find((candidate) => text.startsWith(candidate, at));
    ids.push(piece ? merged.indexOf(piece) : text.charCodeAt(at));
    at += piece ? piece.length : 1;
  }
  return ids;
};
const decode = (ids: Int32Array): string => Array.from(ids, (id) => merged[id] ?? String.fromCharCode(id)).join('');

const user = (content: JsonObject['content']) => ({ role: 'user', content: content ?? null });
const assistant = (content: string) => ({ role: 'assistant', content });
const turn = (id: string, prompt: number[], answer: string, messages: JsonObject[], more: Partial<Call> = {}): Call => {
  const made = callOf({ id, prompt, answers: [tok(answer)] }, { request: { messages }, ...more });
  made.choices[0]!.text = answer;
  return made;
};
function brokenBy(first: Call, second: Call) {
  const { origin } = buildChains([first, second], decode).chains[1]!;
  return origin.kind === 'broken' ? origin.break : origin.kind;
}

describe('breaks of a chain', () => {
  const first = turn('a', tok('u:hi|a:'), 'hello.', [user('hi')]);

  it('are retokenised when the text is the same', () => {
    const second = turn('b', tok('u:hi|a:hello.|u:go|', ['hello']), 'x', [user('hi'), assistant('hello.'), user('go')]);
    expect(brokenBy(first, second)).toEqual({
      kind: 'retokenised',
      callId: 'a',
      firstDifference: 7,
      inAnswer: true,
      texts: { before: 'hello.', after: 'hello.|u:go|' },
    });
  });

  it('are the template’s when the messages are the same and the rendering is not', () => {
    const thinking = turn('a', tok('u:hi|a:'), '<think>hm</think>hello.', [user('hi')]);
    const echoed = [user([{ type: 'text', text: 'hi' }]), assistant('<think>hm</think>hello.'), user('go')];
    const second = turn('b', tok('u:hi|a:hello.|u:go|a:'), 'x', echoed);
    expect(brokenBy(thinking, second)).toMatchObject({
      kind: 'template',
      firstDifference: 7,
      texts: { before: '<think>hm</think', after: 'hello.|u:go|a:' },
    });
  });

  it('are the template’s when only the form of a tool call’s arguments differs', () => {
    const calls = (args: string, id: string) => [{ id, type: 'function', function: { name: 'add', arguments: args } }];
    const message = { role: 'assistant', content: null, tool_calls: calls('{"a":1}', 'one') };
    const asked = turn('a', tok('u:hi|a:'), '<add {"a":1}>', [user('hi')], {
      response: { choices: [{ index: 0, message }] },
    });
    const echo = { role: 'assistant', content: '', tool_calls: calls('{ "a": 1 }', 'two') };
    const second = turn('b', tok('u:hi|a:<add {"a": 1}>|t:1|'), 'x', [user('hi'), echo]);
    expect(brokenBy(asked, second)).toMatchObject({ kind: 'template' });
  });

  it('are edits when the client sent another history', () => {
    const rewritten = turn('b', tok('u:hi|a:hey.|u:go|'), 'x', [user('hi'), assistant('hey.'), user('go')]);
    expect(brokenBy(first, rewritten)).toMatchObject({ kind: 'history_edited', inAnswer: true });
    const compacted = turn('b', tok('u:summary|a:'), 'x', [user('summary')]);
    expect(brokenBy(first, compacted)).toMatchObject({ kind: 'history_edited', firstDifference: 2, inAnswer: false });
  });

  it('are other without messages to compare, and without a decoder', () => {
    const second = turn('b', tok('u:hi|a:hey.|'), 'x', [], { request: { input: 'hi' } });
    expect(brokenBy(first, second)).toMatchObject({ kind: 'other', texts: { before: 'llo.', after: 'y.|' } });
    expect(buildChains([first, second]).chains[1]!.origin).toEqual({
      kind: 'broken',
      break: { kind: 'other', callId: 'a', firstDifference: 9, inAnswer: true },
    });
  });
});
