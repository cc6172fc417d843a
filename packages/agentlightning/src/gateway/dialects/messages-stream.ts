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
  #textOpen = false;

  constructor(head: AnswerHead) {
    this.#head = head;
  }

  event(event: TurnEvent): string {
    switch (event.type) {
      case 'prompt':
        this.#promptTokens = event.ids?.length ?? 0;
        return '';
      case 'text':
        return event.text === '' ? '' : this.#begin() + this.#text(event.text);
      case 'tool-call':
        return this.#begin() + this.#closeText() + this.#call(event.call);
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
      this.#closeText() +
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

  #text(text: string): string {
    let opened = '';
    if (!this.#textOpen) {
      this.#textOpen = true;
      this.#blocks += 1;
      opened = write('content_block_start', { index: this.#blocks - 1, content_block: { type: 'text', text: '' } });
    }
    return opened + write('content_block_delta', { index: this.#blocks - 1, delta: { type: 'text_delta', text } });
  }

  #closeText(): string {
    if (!this.#textOpen) return '';
    this.#textOpen = false;
    return write('content_block_stop', { index: this.#blocks - 1 });
  }

  #call({ id, name, arguments: text }: ToolCall): string {
    const index = this.#blocks;
    this.#blocks += 1;
    const delta = { type: 'input_json_delta', partial_json: argumentsJson(text) };
    return (
      write('content_block_start', { index, content_block: { type: 'tool_use', id, name, input: {} } }) +
      write('content_block_delta', { index, delta }) +
      write('content_block_stop', { index })
    );
  }
}

function write(type: string, body: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}
