import type { JsonObject } from '../../store/types.ts';
import type { ToolCall, TurnEvent } from '../../upstreams/index.ts';
import type { Answer } from '../answer.ts';
import type { Problem } from '../problem.ts';
import { argumentsJson } from './call-arguments.ts';
import type { AnswerHead, DialectStream } from './dialect.ts';
import { messageStart, messagesError, stopReason, usageBody } from './messages-answer.ts';

/** Named events; of the content blocks one is open at a time. */
export class MessagesStream implements DialectStream {
  readonly #head: AnswerHead;
  #promptTokens = 0;
  #begun = false;
  #blocks = 0;
  #open: 'text' | 'reasoning' | 'tool_use' | null = null;

  constructor(head: AnswerHead) {
    this.#head = head;
  }

  event(event: TurnEvent): string {
    switch (event.type) {
      case 'prompt':
        this.#promptTokens = event.ids?.length ?? 0;
        return '';
      case 'text':
      case 'reasoning':
        return event.text === '' ? '' : this.#begin() + this.#text(event.type, event.text);
      case 'tool-call-start':
        return this.#begin() + this.#close() + this.#openCall(event);
      case 'tool-call-arguments':
        return this.#delta({ type: 'input_json_delta', partial_json: event.text });
      case 'tool-call':
        return this.#open === 'tool_use' ? this.#close() : this.#begin() + this.#close() + this.#call(event.call);
      case 'untrainable':
      case 'tokens':
      case 'finish':
      case 'usage':
        return '';
    }
  }

  end(answer: Answer): string {
    const { promptTokens, completionTokens } = answer.usage;
    const delta = { stop_reason: stopReason(answer.choices[0]?.finishReason), stop_sequence: null };
    return (
      this.#begin() +
      this.#close() +
      write('message_delta', { delta, usage: usageBody(promptTokens, completionTokens) }) +
      write('message_stop', {})
    );
  }

  error(problem: Problem): string {
    return write('error', messagesError(problem));
  }

  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    const message = { ...messageStart(this.#head), usage: usageBody(this.#promptTokens, 0) };
    return write('message_start', { message }) + write('ping', {});
  }

  #text(type: 'text' | 'reasoning', text: string): string {
    const thinking = type === 'reasoning';
    const empty = thinking ? { type: 'thinking', thinking: '', signature: '' } : { type: 'text', text: '' };
    const delta = thinking ? { type: 'thinking_delta', thinking: text } : { type: 'text_delta', text };
    return (this.#open === type ? '' : this.#close() + this.#start(type, empty)) + this.#delta(delta);
  }

  #call(call: ToolCall): string {
    const delta = { type: 'input_json_delta', partial_json: argumentsJson(call.arguments) };
    return this.#openCall(call) + this.#delta(delta) + this.#close();
  }

  #openCall({ id, name }: Pick<ToolCall, 'id' | 'name'>): string {
    return this.#start('tool_use', { type: 'tool_use', id, name, input: {} });
  }

  #start(type: 'text' | 'reasoning' | 'tool_use', content_block: JsonObject): string {
    this.#open = type;
    this.#blocks += 1;
    return write('content_block_start', { index: this.#blocks - 1, content_block });
  }

  #delta(delta: JsonObject): string {
    return write('content_block_delta', { index: this.#blocks - 1, delta });
  }

  #close(): string {
    if (this.#open === null) return '';
    // Nobody signs a local model's thinking; clients want the event.
    const signed = this.#open === 'reasoning' ? this.#delta({ type: 'signature_delta', signature: '' }) : '';
    this.#open = null;
    return signed + write('content_block_stop', { index: this.#blocks - 1 });
  }
}

function write(type: string, body: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}
