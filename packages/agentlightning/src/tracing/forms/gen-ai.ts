import type { Json, JsonObject } from '../../store/types.ts';
import { type ChatMessage, MessageBuilder, toolCall, toolResult } from '../chat.ts';
import { firstText, objectsOf } from '../json.ts';

/** Messages of OpenTelemetry's GenAI conventions from 1.37 on: `{role, parts: [{type, …}], finish_reason?}`. */
export function genAiMessages(value: Json | undefined): ChatMessage[] {
  return objectsOf(value).flatMap(genAiMessage);
}

/** `gen_ai.system_instructions`: parts without a role. */
export function genAiInstructions(parts: Json | undefined): ChatMessage[] {
  return objectsOf(parts).length === 0 ? [] : genAiMessage({ role: 'system', parts: parts ?? [] });
}

function genAiMessage(message: JsonObject): ChatMessage[] {
  const builder = new MessageBuilder(firstText(message.role) ?? 'user');
  const results: ChatMessage[] = [];
  // Early instrumentations wrote `content` in place of parts.
  if (typeof message.content === 'string') builder.text(message.content);
  for (const part of objectsOf(message.parts)) {
    if (part.type === 'text') builder.text(firstText(part.content, part.text) ?? '');
    else if (part.type === 'reasoning') builder.reasoning(firstText(part.content) ?? '');
    else if (part.type === 'tool_call') builder.call(toolCall(part.id, part.name, part.arguments));
    // `result` up to 1.37, `response` since.
    else if (part.type === 'tool_call_response') results.push(toolResult(part.id, part.response ?? part.result));
    else builder.part(part);
  }
  return builder.isEmpty && results.length > 0 ? results : [...results, builder.message()];
}
