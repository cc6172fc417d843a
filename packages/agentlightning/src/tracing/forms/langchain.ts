import type { Json, JsonObject } from '../../store/types.ts';
import { type ChatMessage, MessageBuilder, toolCall } from '../chat.ts';
import { firstText, listOf, objectOf, objectsOf, textOf } from '../json.ts';
import { addContent, chatMessage, chatToolCalls } from './chat.ts';

const roles = new Map<string, string>([
  ['human', 'user'],
  ['ai', 'assistant'],
  ['system', 'system'],
  ['tool', 'tool'],
  ['developer', 'developer'],
]);

/**
 * A message of LangChain: serialised (`{lc, id: [… , 'AIMessage'], kwargs}`, or `{type: 'ai', data}`), as its plain fields
 * (`{type: 'ai', content}`), or one of the chat API.
 */
export function langchainMessage(message: JsonObject): ChatMessage {
  const fields = fieldsOf(message);
  const serialised = /^(\w+?)Message(Chunk)?$/.exec(String(listOf(message.id).at(-1) ?? ''))?.[1]?.toLowerCase();
  const role = roles.get(serialised ?? String(fields.type)) ?? firstText(fields.role);
  if (role === null && fields.tool_calls === undefined) return chatMessage(message);
  const builder = new MessageBuilder(role ?? 'assistant');
  addContent(builder, fields.content);
  const extra = objectOf(fields.additional_kwargs);
  const reasoning = firstText(extra?.reasoning_content);
  if (reasoning !== null) builder.reasoning(reasoning);
  // The provider's own form has the arguments as the model wrote them; LangChain's has parsed ones.
  const raw = chatToolCalls(extra?.tool_calls);
  const own = objectsOf(fields.tool_calls).map((call) => toolCall(call.id, call.name, call.args));
  for (const call of raw.length > 0 ? raw : own) builder.call(call);
  const id = textOf(fields.tool_call_id);
  return { ...builder.message(), ...(id === null ? {} : { tool_call_id: id }) };
}

/** The id that the provider gave the answer; LangChain has ids of its own for some messages. */
export function langchainResponseId(message: JsonObject): string | null {
  const fields = fieldsOf(message);
  const known = (value: unknown) => (/^(chatcmpl-|resp_|msg_)/.test(String(value)) ? textOf(value) : null);
  return firstText(objectOf(fields.response_metadata)?.id, known(fields.id));
}

export function fieldsOf(message: JsonObject): JsonObject {
  return objectOf(message.kwargs) ?? objectOf(message.data) ?? message;
}

/** `{messages: [[…]]}` or `{messages: […]}`: what a model was given. */
export function langchainInput(value: Json | undefined): JsonObject[] {
  const { messages } = objectOf(value) ?? {};
  const [first] = listOf(messages);
  return objectsOf(Array.isArray(first) ? first : messages);
}

/** `{generations: [[{message, …}]]}`: what a model answered. */
export function langchainGenerations(value: Json | undefined): JsonObject[] {
  return listOf(objectOf(value)?.generations).flatMap((list) => objectsOf(list));
}
