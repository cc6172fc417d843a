import type { Json, JsonObject } from '../store/types.ts';
import { asText, textOf } from './json.ts';

export interface ToolCall {
  /** Empty when the instrumentation did not write it down. */
  id: string;
  type: 'function';
  /** `arguments` is JSON as the model wrote it, where that is known. */
  function: { name: string; arguments: string };
}

/** A message as OpenAI's chat API has it: what fine-tuning services and chat templates take. */
export interface ChatMessage {
  role: string;
  /** Text, or parts when there is more than text. */
  content: string | JsonObject[] | null;
  name?: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  /** What a reasoning model thought before it answered. */
  reasoning_content?: string;
}

/** A tool that the model may call: `{type: 'function', function: {name, description, parameters}}`. */
export type ToolDefinition = JsonObject;

export function toolCall(id: unknown, name: unknown, argumentsValue: Json | undefined): ToolCall {
  const text = argumentsValue === undefined || argumentsValue === null ? '{}' : asText(argumentsValue);
  return { id: textOf(id) ?? '', type: 'function', function: { name: textOf(name) ?? '', arguments: text } };
}

export function toolResult(id: unknown, result: Json | undefined): ChatMessage {
  return {
    role: 'tool',
    content: asText(result ?? ''),
    ...(textOf(id) === null ? {} : { tool_call_id: id as string }),
  };
}

export function toolDefinition(name: unknown, description: unknown, parameters: Json | undefined): ToolDefinition {
  return {
    type: 'function',
    function: {
      name: textOf(name) ?? '',
      ...(textOf(description) === null ? {} : { description: description as string }),
      ...(parameters === undefined || parameters === null ? {} : { parameters }),
    },
  };
}

/** Builds one message from pieces that come in any order. */
export class MessageBuilder {
  readonly #role: string;
  #parts: JsonObject[] = [];
  #calls: ToolCall[] = [];
  #reasoning = '';

  constructor(role: string) {
    this.#role = role;
  }

  text(text: string): void {
    this.#parts.push({ type: 'text', text });
  }

  /** Something that is no text, as the instrumentation had it. */
  part(part: JsonObject): void {
    this.#parts.push(part);
  }

  call(call: ToolCall): void {
    this.#calls.push(call);
  }

  reasoning(text: string): void {
    this.#reasoning += text;
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0 && this.#calls.length === 0 && this.#reasoning === '';
  }

  message(): ChatMessage {
    const onlyText = this.#parts.every(({ type }) => type === 'text');
    const text = this.#parts.map((part) => part.text).join('');
    return {
      role: this.#role,
      content: this.#parts.length === 0 ? null : onlyText ? text : this.#parts,
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
      ...(this.#reasoning === '' ? {} : { reasoning_content: this.#reasoning }),
    };
  }
}
