import { describe, expect, it } from 'vitest';
import { hermes } from './hermes.ts';
import { readCalls } from './testing/read-calls.ts';

const read = (pieces: string[], incremental = false) => readCalls(hermes, pieces, { incremental });
const add = '<tool_call>\n{"name": "add", "arguments": {"a":  1, "b": "</x>"}}\n</tool_call>';

describe.each([false, true])('calls of the Hermes form, incremental: %s', (incremental) => {
  it('are cut out, and the arguments kept as the model wrote them', () => {
    expect(read([`Let me see.\n${add}\n${add}\n`], incremental)).toMatchObject({
      text: 'Let me see.\n',
      calls: Array.from({ length: 2 }, () => ({ name: 'add', argumentsText: '{"a":  1, "b": "</x>"}' })),
    });
  });

  it.each([
    ['not JSON', '<tool_call>{"name": add}</tool_call>'],
    ['no name', '<tool_call>{"arguments": {}}</tool_call>'],
    ['no object', '<tool_call>[1]</tool_call>'],
    ['never closed', 'x<tool_call>{"name": "add"}'],
    ['an unfinished tag', 'x<tool_ca'],
  ])('are text when they are malformed: %s', (_, text) => {
    expect(read([text], incremental)).toMatchObject({ text, calls: [] });
  });

  it('may have arguments given as a string, or none', () => {
    const texts = ['{"name": "f", "arguments": "{\\"a\\": 1}"}', '{"name": "g"}'];
    const pieces = texts.map((text) => `<tool_call>${text}</tool_call>`);
    expect(read(pieces, incremental).calls).toEqual([
      { name: 'f', argumentsText: '{"a": 1}' },
      { name: 'g', argumentsText: '{}' },
    ]);
  });

  it('leave white space that belongs to text', () => {
    expect(read([' \n'], incremental).text).toBe(' \n');
    expect(read(['\n', add, ' \n '], incremental).text).toBe('');
    expect(read([add, ' \n', 'and then'], incremental).text).toBe(' \nand then');
  });
});

describe('a call that breaks off behind its name', () => {
  const cut = '<tool_call>{"name": "add", "arguments": {"a": 1';
  const closed = '<tool_call>{"name": "add", "arguments": {"a": oops</tool_call>';

  it('is text in an answer that is sent whole', () => {
    expect(read([cut])).toMatchObject({ text: cut, calls: [] });
    expect(read([closed])).toMatchObject({ text: closed, calls: [] });
  });

  it('stays a call in a stream, where its name has been told', () => {
    expect(read([cut], true)).toMatchObject({ text: '', calls: [{ name: 'add', argumentsText: '{"a": 1' }] });
    expect(read([closed], true)).toMatchObject({ text: '', calls: [{ name: 'add', argumentsText: '{"a": oops' }] });
  });
});

it('passes text on as soon as it cannot be the start of a tag, and arguments as they come', () => {
  const told: string[] = [];
  const ignore = () => {};
  const sink = { text: (text: string) => told.push(text), call: ignore, beginCall: (name: string) => told.push(name) };
  const parser = hermes.createParser({ incremental: true, tools: [] });
  const pieces = [
    'a',
    ' <',
    'b',
    ' <tool',
    '_cal',
    ' l',
    '<tool_call>{"name": "f", "arguments": ',
    '{"a',
    '": 1}',
    '}',
  ];
  for (const piece of pieces)
    parser.push(piece, { ...sink, callArguments: (text: string) => told.push(text), endCall: ignore });
  expect(told).toEqual(['a', ' ', '<b', ' ', '<tool_cal l', 'f', '{"a', '": 1}']);
});
