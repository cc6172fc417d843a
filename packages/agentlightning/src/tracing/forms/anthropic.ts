import type { Json, JsonObject } from '../../store/types.ts';
import { type ChatMessage, MessageBuilder, toolCall, toolResult } from '../chat.ts';
import { firstText, objectsOf } from '../json.ts';
import { addContent } from './chat.ts';

/** Messages of Anthropic's API: results of tools stand in messages of the user, and become messages of their own. */
export function anthropicMessages(system: Json | undefined, messages: Json | undefined): ChatMessage[] {
  const first = new MessageBuilder('system');
  addContent(first, system);
  return [...(first.isEmpty ? [] : [first.message()]), ...objectsOf(messages).flatMap(anthropicMessage)];
}

export function anthropicMessage({ role, content }: JsonObject): ChatMessage[] {
  const builder = new MessageBuilder(firstText(role) ?? 'user');
  if (typeof content === 'string') builder.text(content);
  const results: ChatMessage[] = [];
  for (const block of objectsOf(content)) {
    if (block.type === 'text') builder.text(firstText(block.text) ?? '');
    else if (block.type === 'tool_use') builder.call(toolCall(block.id, block.name, block.input));
    else if (block.type === 'tool_result') results.push(toolResult(block.tool_use_id, plain(block.content)));
    else if (block.type === 'thinking') builder.reasoning(firstText(block.thinking) ?? '');
    else builder.part(block);
  }
  return builder.isEmpty && results.length > 0 ? results : [...results, builder.message()];
}

function plain(content: Json | undefined): Json | undefined {
  const blocks = objectsOf(content);
  const onlyText = blocks.length > 0 && blocks.every(({ type }) => type === 'text');
  return onlyText ? blocks.map(({ text }) => firstText(text) ?? '').join('') : content;
}
