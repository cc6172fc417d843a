import type { Json, JsonObject } from '../../store/types.ts';
import { type ChatMessage, MessageBuilder, type ToolCall, toolCall, toolResult } from '../chat.ts';
import { firstText, objectOf, objectsOf } from '../json.ts';

/** Messages of the AI SDK's language models, versions 4 to 6. */
export function aiSdkMessages(value: Json | undefined): ChatMessage[] {
  return objectsOf(value).flatMap(({ role, content }) => {
    const builder = new MessageBuilder(firstText(role) ?? 'user');
    if (typeof content === 'string') builder.text(content);
    const results: ChatMessage[] = [];
    for (const part of objectsOf(content)) {
      if (part.type === 'text') builder.text(firstText(part.text) ?? '');
      else if (part.type === 'reasoning') builder.reasoning(firstText(part.text) ?? '');
      else if (part.type === 'tool-call') builder.call(aiSdkToolCall(part));
      else if (part.type === 'tool-result') results.push(toolResult(part.toolCallId, output(part)));
      else builder.part(part);
    }
    return builder.isEmpty && results.length > 0 ? results : [...results, builder.message()];
  });
}

/** `args` up to version 4, `input` since. */
export function aiSdkToolCall(call: JsonObject): ToolCall {
  return toolCall(call.toolCallId, call.toolName, call.input ?? call.args);
}

/** `result` up to version 4; since then a value with its type. */
function output(part: JsonObject): Json | undefined {
  const typed = objectOf(part.output);
  return typed !== null && 'value' in typed ? typed.value : (part.output ?? part.result);
}
