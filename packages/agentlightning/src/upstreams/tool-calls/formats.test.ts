import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolCallFormats } from './formats.ts';
import { llama3 } from './llama3.ts';
import { mistral } from './mistral.ts';
import { qwenCoder } from './qwen-coder.ts';
import { cutText, readCalls } from './testing/read-calls.ts';

const fragments = [
  '<tool_call>{"name": "f", "arguments": {"x": 1}} </tool_call>',
  '[TOOL_CALLS]f[ARGS]{"x": "]"}',
  '<tool_call>\n<function=f>\n</function>\n</tool_call>',
  '<tool_call>',
  '</tool_call>',
  '{"name": "f", "arguments": {"x": [1, {"name": 2}]}}',
  '{"name": "f", "parameters": {"x": "}"}}',
  '<function=f>\n<parameter=x>\n1\n</parameter>\n</function>',
  '[TOOL_CALLS]',
  '[{"name": "f", "arguments": {"x": 1}}]',
  'f[ARGS]{"x": 1}',
  'f[CALL_ID]a1[ARGS]',
  '<|python_tag|>',
  'f.call(x="1")',
  ';',
];

describe.each(toolCallFormats.map((format) => [format.name, format] as const))('the form %s', (_, format) => {
  it.each([true, false])('reads the same however the text is cut, incremental: %s', (incremental) => {
    fc.assert(
      fc.property(cutText(fragments), ({ whole, pieces }) => {
        expect(readCalls(format, pieces, { incremental })).toEqual(readCalls(format, [whole], { incremental }));
      }),
      { numRuns: 1500 },
    );
  });

  it('gives text without calls as it is', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', ' ', '\n', 'é😀', '<', '['), { maxLength: 20 }), (pieces) => {
        const text = pieces.join('');
        expect(readCalls(format, pieces)).toMatchObject({ text, calls: [] });
      }),
    );
  });
});

const call = (name: string, argumentsText: string) => ({ name, argumentsText });

describe.each([true, false])('Llama 3, incremental: %s', (incremental) => {
  const read = (text: string) => readCalls(llama3, [text], { incremental });

  it('writes calls as the whole answer, tagged or not, parted by semicolons', () => {
    const one = '{"name": "add", "parameters": {"a": 1}}';
    const same = [call('add', '{"a": 1}')];
    expect(read(one)).toMatchObject({ text: '', calls: same });
    expect(read(`<|python_tag|>${one}`)).toMatchObject({ text: '', calls: same });
    expect(read(`{"type": "function", "name": "add", "parameters": {"a": 1}}`)).toMatchObject({ calls: same });
    expect(read(`${one}; ${one}`)).toMatchObject({ text: '', calls: [...same, ...same] });
  });

  it('writes built-in tools as Python, and other code is text', () => {
    const search = '<|python_tag|>brave_search.call(query="a \\"b\\"", top=3)';
    expect(read(search).calls).toEqual([call('brave_search', '{"query": "a \\"b\\"", "top": 3}')]);
    expect(read('<|python_tag|>print(1)')).toMatchObject({ text: '<|python_tag|>print(1)', calls: [] });
  });

  it('means nothing by JSON that is no call', () => {
    expect(read('{"answer": 42}')).toMatchObject({ text: '{"answer": 42}', calls: [] });
    expect(read('Use {"name": "add", "parameters": {}}')).toMatchObject({ calls: [] });
  });
});

describe.each([true, false])('Mistral, incremental: %s', (incremental) => {
  const read = (text: string) => readCalls(mistral, [text], { incremental });

  it('writes a list of calls, or names with arguments', () => {
    const list = '[TOOL_CALLS][{"name": "add", "arguments": {"a":  1}}, {"name": "now", "arguments": {}}]';
    expect(read(list)).toMatchObject({ text: '', calls: [call('add', '{"a":  1}'), call('now', '{}')] });
    expect(read('Well. [TOOL_CALLS]add[ARGS]{"a": 1}[TOOL_CALLS]now[CALL_ID]x1[ARGS]{}')).toMatchObject({
      text: 'Well. ',
      calls: [call('add', '{"a": 1}'), call('now', '{}')],
    });
  });

  it('means nothing by a marker that no call follows', () => {
    expect(read('[TOOL_CALLS] none today')).toMatchObject({ text: '[TOOL_CALLS] none today', calls: [] });
  });
});

describe('Qwen 3 Coder', () => {
  const text =
    '<tool_call>\n<function=write>\n<parameter=path>\na.txt\n</parameter>\n<parameter=lines>\n[1, 2]\n</parameter>\n' +
    '<parameter=body>\n  {"a": 1}\n\n</parameter>\n</function>\n</tool_call>';

  it('writes values as texts, and the schema says which are not', () => {
    const properties = { path: { type: 'string' }, lines: { type: 'array' }, body: { type: 'string' } };
    const tools = [{ name: 'write', parameters: { type: 'object', properties } }];
    expect(readCalls(qwenCoder, [text], { tools }).calls).toEqual([
      call('write', '{"path": "a.txt", "lines": [1, 2], "body": "  {\\"a\\": 1}\\n"}'),
    ]);
    expect(readCalls(qwenCoder, [text]).calls[0]?.argumentsText).toContain('"lines": "[1, 2]"');
  });
});

it('takes the form that a template shows', () => {
  const shown = (template: string) => toolCallFormats.find((format) => format.writtenBy(template))?.name;
  expect(shown('<tool_call>\n{"name": <function-name>')).toBe('hermes');
  expect(shown('<tool_call>\n<function=example>')).toBe('qwen-coder');
  expect(shown("{{ '[TOOL_CALLS]' }}")).toBe('mistral');
  expect(shown("{{- '<|start_header_id|>' }} <|python_tag|>")).toBe('llama3');
});
