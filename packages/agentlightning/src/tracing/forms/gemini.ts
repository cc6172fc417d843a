import type { Json, JsonObject } from '../../store/types.ts';
import { type ChatMessage, MessageBuilder, toolCall, toolResult } from '../chat.ts';
import { firstText, objectOf, objectsOf } from '../json.ts';

/** Contents of Gemini's API; its results of functions have no ids of their own, so that names stand for them. */
export function geminiMessages(system: Json | undefined, contents: Json | undefined): ChatMessage[] {
  const instruction = objectOf(system);
  return [
    ...(instruction === null ? [] : geminiMessage({ ...instruction, role: 'system' })),
    ...objectsOf(contents).flatMap(geminiMessage),
  ];
}

export function geminiMessage({ role, parts }: JsonObject): ChatMessage[] {
  const builder = new MessageBuilder(role === 'model' ? 'assistant' : (firstText(role) ?? 'user'));
  const results: ChatMessage[] = [];
  for (const part of objectsOf(parts)) {
    const call = objectOf(part.functionCall);
    const answer = objectOf(part.functionResponse);
    if (call !== null) builder.call(toolCall(call.id ?? call.name, call.name, call.args));
    else if (answer !== null) results.push(toolResult(answer.id ?? answer.name, answer.response));
    else if (typeof part.text === 'string' && part.thought === true) builder.reasoning(part.text);
    else if (typeof part.text === 'string') builder.text(part.text);
    else builder.part(part);
  }
  return builder.isEmpty && results.length > 0 ? results : [...results, builder.message()];
}
