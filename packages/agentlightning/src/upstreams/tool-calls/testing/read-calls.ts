import fc from 'fast-check';
import type { ToolDefinition } from '../../upstream.ts';
import type { ToolCallFormat, ToolCallSink } from '../parser.ts';

export interface ReadAnswer {
  text: string;
  calls: { name: string; argumentsText: string }[];
  /** What was told, in order; pieces of one text or one call's arguments put together. */
  order: string[];
}

/** What a format's parser finds in a text that arrives in these pieces. */
export function readCalls(
  format: ToolCallFormat,
  pieces: string[],
  { incremental = false, tools = [] }: { incremental?: boolean; tools?: ToolDefinition[] } = {},
): ReadAnswer {
  const result: ReadAnswer = { text: '', calls: [], order: [] };
  let open: { name: string; argumentsText: string } | null = null;
  const sink: ToolCallSink = {
    text(text) {
      result.text += text;
      if (result.order.at(-1) !== 'text') result.order.push('text');
    },
    call(name, argumentsText) {
      result.calls.push({ name, argumentsText });
      result.order.push('call');
    },
    beginCall(name) {
      if (open !== null) throw new Error('two calls are open');
      open = { name, argumentsText: '' };
    },
    callArguments(text) {
      if (open === null) throw new Error('no call is open');
      open.argumentsText += text;
    },
    endCall() {
      if (open === null) throw new Error('no call is open');
      sink.call(open.name, open.argumentsText);
      open = null;
    },
  };
  const parser = format.createParser({ incremental, tools });
  for (const piece of pieces) parser.push(piece, sink);
  parser.end(sink);
  if (open !== null) throw new Error('a call was left open');
  return result;
}

/** A text of some of the fragments, and the same text in pieces. */
export function cutText(fragments: string[]): fc.Arbitrary<{ whole: string; pieces: string[] }> {
  const text = fc.array(fc.constantFrom(...fragments, '\n', ' ', 'words', 'é😀', '<', '"', '}'), { maxLength: 12 });
  return fc.tuple(text, fc.array(fc.nat(200))).map(([parts, places]) => {
    const whole = parts.join('');
    const sorted = [0, ...places.filter((place) => place < whole.length).sort((a, b) => a - b), whole.length];
    return { whole, pieces: sorted.slice(1).map((end, index) => whole.slice(sorted[index], end)) };
  });
}
