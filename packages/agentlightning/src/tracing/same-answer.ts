import type { ChatMessage } from './chat.ts';
import { parsed } from './json.ts';

/** Whether two records of an answer say the same: its text, and its tool calls with arguments compared as JSON. */
export function sameAnswer(a: ChatMessage, b: ChatMessage): boolean {
  return plainText(a) === plainText(b) && callsOf(a) === callsOf(b);
}

/** The text of a message without its other parts. */
export function plainText({ content }: ChatMessage): string {
  if (content === null || typeof content === 'string') return (content ?? '').trim();
  return content
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('')
    .trim();
}

function callsOf({ tool_calls: calls = [] }: ChatMessage): string {
  return JSON.stringify(calls.map((call) => [call.function.name, parsed(call.function.arguments)]));
}
