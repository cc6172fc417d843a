import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HermesParser } from './hermes.ts';
import type { ToolCallSink } from './parser.ts';

interface Read {
  text: string;
  calls: { name: string; argumentsText: string }[];
}

function read(pieces: string[]): Read {
  const result: Read = { text: '', calls: [] };
  const sink: ToolCallSink = {
    text: (text) => {
      result.text += text;
    },
    call: (name, argumentsText) => result.calls.push({ name, argumentsText }),
  };
  const parser = new HermesParser();
  for (const piece of pieces) parser.push(piece, sink);
  parser.end(sink);
  return result;
}

const add = '<tool_call>\n{"name": "add", "arguments": {"a":  1, "b": "</x>"}}\n</tool_call>';

describe('HermesParser', () => {
  it('cuts calls out and keeps the arguments as the model wrote them', () => {
    expect(read([`Let me see.\n${add}\n${add}\n`])).toEqual({
      text: 'Let me see.\n',
      calls: Array.from({ length: 2 }, () => ({ name: 'add', argumentsText: '{"a":  1, "b": "</x>"}' })),
    });
  });

  it('passes text on as soon as it cannot be the start of a tag', () => {
    const seen: string[] = [];
    const sink: ToolCallSink = { text: (text) => seen.push(text), call: () => {} };
    const parser = new HermesParser();
    for (const piece of ['a', ' <', 'b', ' <tool', '_cal', ' l']) parser.push(piece, sink);
    expect(seen).toEqual(['a', ' ', '<b', ' ', '<tool_cal l']);
  });

  it.each([
    ['not JSON', '<tool_call>{"name": add}</tool_call>'],
    ['no name', '<tool_call>{"arguments": {}}</tool_call>'],
    ['no object', '<tool_call>[1]</tool_call>'],
    ['never closed', 'x<tool_call>{"name": "add"}'],
    ['an unfinished tag', 'x<tool_ca'],
  ])('gives a malformed call to the client as text: %s', (_, text) => {
    expect(read([text])).toEqual({ text, calls: [] });
  });

  it('takes arguments given as a string, and a call without any', () => {
    const texts = ['{"name": "f", "arguments": "{\\"a\\": 1}"}', '{"name": "g"}'];
    expect(read(texts.map((text) => `<tool_call>${text}</tool_call>`)).calls).toEqual([
      { name: 'f', argumentsText: '{"a": 1}' },
      { name: 'g', argumentsText: '{}' },
    ]);
  });

  it('keeps white space that belongs to text', () => {
    expect(read([' \n']).text).toBe(' \n');
    expect(read(['\n', add, ' \n ']).text).toBe('');
    expect(read([add, ' \n', 'and then']).text).toBe(' \nand then');
  });

  it('finds the same however the text is cut', () => {
    const fragments = fc.constantFrom(
      '<tool_call>',
      '</tool_call>',
      '<tool_',
      '<',
      add,
      '{"name": "f", "arguments": {"x": [1, {"name": 2}]}}',
      '\n',
      ' ',
      'words',
      'é😀',
    );
    const text = fc.array(fragments, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(200)), (whole, cuts) => {
        expect(read(cut(whole, cuts))).toEqual(read([whole]));
      }),
      { numRuns: 500 },
    );
  });
});

function cut(text: string, places: number[]): string[] {
  const sorted = [0, ...places.filter((place) => place < text.length).sort((a, b) => a - b), text.length];
  return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
}
