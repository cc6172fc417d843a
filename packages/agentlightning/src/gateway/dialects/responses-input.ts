import type { Json } from '../../store/types.ts';
import type { Message, ToolCall } from '../../upstreams/index.ts';
import { Fields } from '../fields.ts';
import { invalidField } from '../request-error.ts';
import type { InputItem } from './responses-history.ts';

const roles = ['user', 'assistant', 'system', 'developer'] as const;
const textParts = ['input_text', 'output_text', 'text', 'refusal'];

/**
 * The messages that a conversation's items stand for. One answer is several items (a message and each call), and is one
 * message again here, because only so the prompt can go on from the ids of that answer. Reasoning items are left out.
 */
export function readItems(items: InputItem[]): Message[] {
  const messages: Message[] = [];
  let answer: { message: Message; spoken: boolean } | null = null;
  const answerFor = (speaks: boolean): Message => {
    if (answer === null || (speaks && answer.spoken)) {
      answer = { message: { role: 'assistant', content: '' }, spoken: false };
      messages.push(answer.message);
    }
    answer.spoken ||= speaks;
    return answer.message;
  };
  for (const item of items) {
    const fields = Fields.of(item.value, item.path);
    const type = fields.string('type') ?? 'message';
    if (type === 'reasoning') continue;
    if (type === 'function_call') {
      const message = answerFor(false);
      message.toolCalls = [...(message.toolCalls ?? []), readCall(fields)];
    } else if (type === 'message' && fields.value('role') === 'assistant') {
      answerFor(true).content = readText(fields, 'content');
    } else {
      answer = null;
      messages.push(type === 'function_call_output' ? readCallOutput(fields) : readMessage(fields, type));
    }
  }
  return messages;
}

function readMessage(fields: Fields, type: string): Message {
  if (type !== 'message') {
    const known = 'message, function_call, function_call_output, reasoning, item_reference';
    throw invalidField(fields.path('type'), `one of ${known}`);
  }
  const role = roles.find((name) => name === fields.value('role'));
  if (role === undefined) throw invalidField(fields.path('role'), `one of ${roles.join(', ')}`);
  return { role, content: readText(fields, 'content') };
}

function readCall(fields: Fields): ToolCall {
  return {
    id: fields.requiredString('call_id'),
    name: fields.requiredString('name'),
    arguments: fields.string('arguments') ?? '',
  };
}

function readCallOutput(fields: Fields): Message {
  return { role: 'tool', toolCallId: fields.requiredString('call_id'), content: readText(fields, 'output') };
}

function readText(fields: Fields, name: string): string {
  const value = fields.value(name);
  const path = fields.path(name);
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((part, index) => readPart(part, `${path}[${index}]`)).join('');
  throw invalidField(path, 'a text or an array of text parts');
}

function readPart(value: Json, path: string): string {
  const fields = Fields.of(value, path);
  const type = fields.string('type') ?? '';
  if (!textParts.includes(type)) throw invalidField(`${path}.type`, '"input_text": this gateway takes text alone');
  const name = type === 'refusal' ? 'refusal' : 'text';
  const text = fields.string(name);
  if (text === undefined) throw invalidField(`${path}.${name}`, 'a string');
  return text;
}
