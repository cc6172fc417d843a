import type { Json } from '../../store/types.ts';
import type { Message } from '../../upstreams/index.ts';
import { Fields } from '../fields.ts';
import { invalidField } from '../request-error.ts';
import { objectValue } from './chat-request.ts';

const roles = ['user', 'assistant', 'system'] as const;

/** A user's message with tool results is one message for each result and one for the text between them. */
export function readMessages(fields: Fields): Message[] {
  const messages = fields.array('messages');
  if (messages === undefined || messages.length === 0) {
    throw invalidField('messages', 'an array with at least one message');
  }
  return messages.flatMap((value, index) => {
    const message = Fields.of(value, `messages[${index}]`);
    const role = roles.find((known) => known === message.value('role'));
    if (role === undefined) throw invalidField(message.path('role'), `one of ${roles.join(', ')}`);
    const content = message.value('content');
    const path = message.path('content');
    if (typeof content === 'string') return [{ role, content }];
    if (!Array.isArray(content)) throw invalidField(path, 'a text or an array of content blocks');
    const blocks = content.map((block, place) => Fields.of(block, `${path}[${place}]`));
    return role === 'assistant' ? [readAnswer(blocks)] : readBlocks(blocks, role);
  });
}

/** Thinking is left out: templates of thinking models leave it out of earlier turns too. */
function readAnswer(blocks: Fields[]): Message {
  const message: Message = { role: 'assistant', content: '' };
  for (const block of blocks) {
    const type = block.value('type');
    if (type === 'thinking' || type === 'redacted_thinking') continue;
    if (type === 'tool_use') {
      const input = objectValue(block.value('input') ?? {}, block.path('input'));
      const call = { id: block.requiredString('id'), name: block.requiredString('name') };
      message.toolCalls = [...(message.toolCalls ?? []), { ...call, arguments: JSON.stringify(input) }];
    } else {
      message.content += textOf(block, 'text, tool_use, thinking, redacted_thinking');
    }
  }
  return message;
}

function readBlocks(blocks: Fields[], role: 'user' | 'system'): Message[] {
  const messages: Message[] = [];
  for (const block of blocks) {
    if (role === 'user' && block.value('type') === 'tool_result') {
      const content = block.value('content') ?? '';
      messages.push({
        role: 'tool',
        toolCallId: block.requiredString('tool_use_id'),
        content: readText(content, block.path('content')),
      });
      continue;
    }
    const content = textOf(block, role === 'user' ? 'text, tool_result' : 'text');
    const last = messages.at(-1);
    if (last?.role === role) last.content += content;
    else messages.push({ role, content });
  }
  // An empty list of blocks is an empty message.
  return messages.length > 0 ? messages : [{ role, content: '' }];
}

/** A text, or text blocks put together. */
export function readText(value: Json, path: string): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) throw invalidField(path, 'a text or an array of text blocks');
  return value.map((block, index) => textOf(Fields.of(block, `${path}[${index}]`), 'text')).join('');
}

function textOf(block: Fields, known: string): string {
  if (block.value('type') !== 'text') {
    throw invalidField(block.path('type'), `one of ${known}: this gateway takes text alone`);
  }
  const text = block.string('text');
  if (text === undefined) throw invalidField(block.path('text'), 'a string');
  return text;
}
