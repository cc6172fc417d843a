import type { Json, JsonObject } from '../../store/types.ts';
import {
  type ChatMessage,
  MessageBuilder,
  type ToolCall,
  type ToolDefinition,
  toolCall,
  toolDefinition,
} from '../chat.ts';
import { firstText, listOf, objectOf, objectsOf, parsed, textOf } from '../json.ts';

/** A message of OpenAI's chat API, or something close to it. */
export function chatMessage(message: JsonObject, role = 'user'): ChatMessage {
  const builder = new MessageBuilder(firstText(message.role) ?? role);
  addContent(builder, message.content);
  const reasoning = firstText(message.reasoning_content, message.reasoning);
  if (reasoning !== null) builder.reasoning(reasoning);
  for (const call of chatToolCalls(parsed(message.tool_calls))) builder.call(call);
  const id = textOf(message.tool_call_id);
  const name = textOf(message.name);
  return { ...builder.message(), ...(id === null ? {} : { tool_call_id: id }), ...(name === null ? {} : { name }) };
}

/** Text, or a list of parts: those of type text are told by their `text`, others are kept as they are. */
export function addContent(builder: MessageBuilder, content: Json | undefined): void {
  if (typeof content === 'string') {
    if (content !== '') builder.text(content);
    return;
  }
  for (const part of objectsOf(content)) {
    const isText = part.type === undefined || /^(text|input_text|output_text)$/.test(String(part.type));
    if (isText && typeof part.text === 'string') builder.text(part.text);
    else builder.part(part);
  }
}

/** Content with more than text comes as a JSON list of parts in a text. */
export function contentParts(content: Json): Json {
  const parts = typeof content === 'string' && content.startsWith('[{') ? parsed(content) : undefined;
  return objectsOf(parts).some((part) => 'type' in part || 'text' in part) ? parts! : content;
}

export function chatToolCalls(value: Json | undefined): ToolCall[] {
  return objectsOf(value).map((call) => {
    const inner = objectOf(call.function) ?? call;
    return toolCall(call.id, inner.name, inner.arguments);
  });
}

/** Definitions as the chat API has them, as the Responses API has them (flat), or as JSON texts of either. */
export function chatTools(value: Json | undefined): ToolDefinition[] {
  return listOf(value).flatMap((item) => {
    const tool = objectOf(parsed(item));
    if (tool === null) return [];
    const inner = objectOf(tool.function) ?? tool;
    const parameters = inner.parameters ?? inner.input_schema ?? inner.inputSchema;
    return firstText(inner.name) === null ? [] : [toolDefinition(inner.name, inner.description, parameters)];
  });
}
