import { readCall } from './call-json.ts';
import type { ToolCallFormat } from './parser.ts';
import { TaggedCallParser } from './tagged-calls.ts';

/** Hermes, Qwen 2.5 and Qwen 3: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. */
export const hermes: ToolCallFormat = {
  name: 'hermes',
  writtenBy: (template) => template.includes('<tool_call>'),
  markers: ['<tool_call>', '</tool_call>'],
  createParser: ({ incremental }) =>
    new TaggedCallParser({ open: '<tool_call>', close: '</tool_call>', read, incremental }),
};

function read(body: string): [NonNullable<ReturnType<typeof readCall>>] | null {
  const call = readCall(body);
  return call === null ? null : [call];
}
