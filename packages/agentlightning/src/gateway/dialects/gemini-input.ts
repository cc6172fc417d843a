import type { Message } from '../../upstreams/index.ts';
import { Fields } from '../fields.ts';
import { invalidField } from '../request-error.ts';
import { objectValue } from './chat-request.ts';

const roles = ['user', 'model', 'function'];
const known = 'text, functionCall or functionResponse: this gateway takes text alone';

export function readSystem(request: Fields): Message[] {
  const content = (request.object('systemInstruction') ?? request.object('system_instruction'))?.array('parts') ?? [];
  const texts = content.map((part, index) => Fields.of(part, `systemInstruction.parts[${index}]`).string('text') ?? '');
  return texts.length === 0 ? [] : [{ role: 'system', content: texts.join('') }];
}

/**
 * Contents of the model that follow each other are one answer: Google's client keeps each piece of a stream as one.
 * Calls have no ids there unless somebody gave some, so a result without one answers the oldest open call of its name.
 */
export function readContents(request: Fields): Message[] {
  const contents = request.array('contents');
  if (contents === undefined || contents.length === 0) {
    throw invalidField('contents', 'an array with at least one content');
  }
  const messages: Message[] = [];
  const calls = new OpenCalls();
  for (const [index, value] of contents.entries()) {
    const content = Fields.of(value, `contents[${index}]`);
    const role = content.string('role') ?? 'user';
    if (!roles.includes(role)) throw invalidField(content.path('role'), `one of ${roles.join(', ')}`);
    const parts = (content.array('parts') ?? []).map((part, place) =>
      Fields.of(part, `${content.path('parts')}[${place}]`),
    );
    if (role === 'model') readAnswer(parts, answerOf(messages), calls);
    else readParts(parts, messages, calls);
  }
  return messages;
}

function answerOf(messages: Message[]): Message {
  const last = messages.at(-1);
  if (last?.role === 'assistant') return last;
  const message: Message = { role: 'assistant', content: '' };
  messages.push(message);
  return message;
}

function readAnswer(parts: Fields[], message: Message, calls: OpenCalls): void {
  for (const part of parts) {
    const call = part.object('functionCall');
    if (call === undefined) {
      const text = textOf(part);
      if (part.value('thought') !== true) message.content += text;
      continue;
    }
    const name = call.requiredString('name');
    const args = objectValue(call.value('args') ?? {}, call.path('args'));
    const id = calls.open(name, call.string('id'));
    message.toolCalls = [...(message.toolCalls ?? []), { id, name, arguments: JSON.stringify(args) }];
  }
}

function readParts(parts: Fields[], messages: Message[], calls: OpenCalls): void {
  let text: Message | null = null;
  for (const part of parts) {
    const response = part.object('functionResponse');
    if (response === undefined) {
      if (text === null) {
        text = { role: 'user', content: '' };
        messages.push(text);
      }
      text.content += textOf(part);
      continue;
    }
    text = null;
    const toolCallId = calls.close(response.requiredString('name'), response.string('id'));
    const content = JSON.stringify(response.value('response') ?? {});
    messages.push({ role: 'tool', toolCallId, content });
  }
}

function textOf(part: Fields): string {
  const text = part.string('text');
  if (text === undefined) throw invalidField(part.path('text'), known);
  return text;
}

/** Calls that have no result yet. */
class OpenCalls {
  readonly #open: { id: string; name: string }[] = [];
  #made = 0;

  open(name: string, given: string | undefined): string {
    const id = given ?? this.#newId();
    this.#open.push({ id, name });
    return id;
  }

  close(name: string, given: string | undefined): string {
    const index = this.#open.findIndex((call) => (given === undefined ? call.name === name : call.id === given));
    const [call] = index < 0 ? [] : this.#open.splice(index, 1);
    return given ?? call?.id ?? this.#newId();
  }

  #newId(): string {
    this.#made += 1;
    return `call_${this.#made}`;
  }
}
