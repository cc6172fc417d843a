import type { JsonObject } from '../../store/types.ts';
import type { ToolDefinition } from '../upstream.ts';
import type { WrittenCall } from './call-json.ts';
import type { ToolCallFormat } from './parser.ts';
import { TaggedCallParser } from './tagged-calls.ts';

const functions = /<function=([^>]+)>([\s\S]*?)<\/function>/g;
const parameters = /<parameter=([^>]+)>([\s\S]*?)<\/parameter>/g;

/**
 * Qwen 3 Coder: `<tool_call><function=name><parameter=key>value</parameter>…</function></tool_call>`. Values are plain
 * texts; the tool's schema says which of them are numbers, lists and so on. A call is told when it is whole.
 */
export const qwenCoder: ToolCallFormat = {
  name: 'qwen-coder',
  writtenBy: (template) => template.includes('<function='),
  markers: ['<tool_call>', '</tool_call>'],
  createParser: ({ tools }) =>
    new TaggedCallParser({
      ...{ open: '<tool_call>', close: '</tool_call>', incremental: false },
      read: (body) => read(body, tools),
    }),
};

function read(body: string, tools: readonly ToolDefinition[]): WrittenCall[] | null {
  const calls = [...body.matchAll(functions)].map(([, name = '', inner = '']): WrittenCall => {
    const types = parameterTypes(tools.find((tool) => tool.name === name));
    const given = [...inner.matchAll(parameters)].map(
      ([, key = '', text = '']) => `${JSON.stringify(key)}: ${valueText(withoutBreaks(text), types[key])}`,
    );
    return { name, argumentsText: `{${given.join(', ')}}` };
  });
  return calls.length > 0 ? calls : null;
}

/** The line breaks around a value belong to the form. */
function withoutBreaks(text: string): string {
  return text.replace(/^\n/, '').replace(/\n$/, '');
}

/** A value as JSON: as it is where its type is not a text and it is JSON, else as a text. */
function valueText(text: string, type: unknown): string {
  const types = [type].flat();
  if (type === undefined || types.includes('string')) return JSON.stringify(text);
  try {
    JSON.parse(text);
    return text.trim();
  } catch {
    return JSON.stringify(text);
  }
}

function parameterTypes(tool: ToolDefinition | undefined): Record<string, unknown> {
  const properties = (tool?.parameters?.properties ?? {}) as Record<string, JsonObject | null>;
  return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, schema?.type]));
}
