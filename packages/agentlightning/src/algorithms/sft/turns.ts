import type { Call, CallChoice } from '../../store/types.ts';
import { type ChatMessage, callContent, type ToolDefinition } from '../../tracing/index.ts';

/** One turn as messages: what the model was asked, and what it answered. */
export interface Turn {
  prompt: ChatMessage[];
  tools: ToolDefinition[];
  answer: ChatMessage;
}

/** Null for a call that has no messages: raw completions, or a request in a form that cannot be read. */
export function turnOf(call: Call, choice: CallChoice): Turn | null {
  if (call.dialect === 'completions') return null;
  const { prompt, tools, answers } = callContent(call);
  const answer = answers[call.choices.indexOf(choice)]?.message;
  return prompt.length === 0 || answer === undefined ? null : { prompt, tools, answer };
}
