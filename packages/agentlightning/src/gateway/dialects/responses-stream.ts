import type { JsonObject } from '../../store/types.ts';
import type { ToolCall, TurnEvent } from '../../upstreams/index.ts';
import type { Answer } from '../answer.ts';
import type { Problem } from '../problem.ts';
import { chatError } from './chat-answer.ts';
import type { AnswerHead, DialectStream } from './dialect.ts';
import {
  callItem,
  callItemId,
  logProbEntries,
  messageItem,
  messageItemId,
  type Progress,
  responseBody,
  textPart,
} from './responses-answer.ts';
import { ResponsesThought } from './responses-thought.ts';

/**
 * Named events with sequence numbers. Text that comes after a call goes on in the one message of the answer, so that
 * a message is open from its first text to the end.
 */
export class ResponsesStream implements DialectStream {
  readonly #head: AnswerHead;
  #sequence = 0;
  #begun = false;
  #items = 0;
  #calls = 0;
  /** Output index of the message, once there is one. */
  #message: number | null = null;
  /** Where the call goes whose arguments come piece by piece. */
  #openItem: { item_id: string; output_index: number } | null = null;
  readonly #thought: ResponsesThought;
  #pending: { texts: string[]; logProbs: number[] } = { texts: [], logProbs: [] };

  constructor(head: AnswerHead) {
    this.#head = head;
    const nextItem = () => this.#nextItem();
    this.#thought = new ResponsesThought(head, { nextItem, write: (type, body) => this.#write(type, body) });
  }

  event(event: TurnEvent): string {
    switch (event.type) {
      case 'tokens':
        for (const text of event.texts ?? []) this.#pending.texts.push(text);
        if (event.texts !== undefined) for (const logProb of event.logProbs) this.#pending.logProbs.push(logProb);
        return '';
      case 'text':
        return event.text === '' ? '' : this.#begin() + this.#thought.end() + this.#text(event.text);
      case 'reasoning':
        return event.text === '' ? '' : this.#begin() + this.#thought.delta(event.text);
      case 'tool-call-start':
        return this.#begin() + this.#thought.end() + this.#openCall({ ...event, arguments: '' });
      case 'tool-call-arguments':
        return this.#callDelta(event.text);
      case 'tool-call':
        if (this.#openItem !== null) return this.#closeCall(event.call);
        return this.#begin() + this.#thought.end() + this.#call(event.call);
      case 'untrainable':
      case 'prompt':
      case 'finish':
      case 'usage':
        return '';
    }
  }

  end(answer: Answer): string {
    let text = this.#begin() + this.#thought.end();
    if (this.#items === 0) text += this.#openMessage();
    if (this.#message !== null) text += this.#closeMessage(answer, this.#message);
    const status = answer.choices[0]?.finishReason === 'length' ? 'incomplete' : 'completed';
    return text + this.#response(`response.${status}`, { status: 'done', answer });
  }

  /** Clients differ in which of the two events they take for the failure. */
  error(problem: Problem): string {
    const { message, code, field: param } = problem;
    const failed = this.#response('response.failed', { status: 'failed', problem });
    return failed + this.#write('error', { code, message, param, ...chatError(problem) });
  }

  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    const progress: Progress = { status: 'in_progress' };
    return this.#response('response.created', progress) + this.#response('response.in_progress', progress);
  }

  #text(delta: string): string {
    const opened = this.#message === null ? this.#openMessage() : '';
    const { texts, logProbs } = this.#pending;
    const logprobs = texts.length === 0 ? [] : logProbEntries(texts, logProbs);
    if (texts.length > 0) this.#pending = { texts: [], logProbs: [] };
    return opened + this.#write('response.output_text.delta', { ...this.#place(this.#message ?? 0), delta, logprobs });
  }

  #openMessage(): string {
    const index = this.#nextItem();
    this.#message = index;
    const item = messageItem(this.#head, 'in_progress', []);
    return (
      this.#write('response.output_item.added', { output_index: index, item }) +
      this.#write('response.content_part.added', { ...this.#place(index), part: textPart('', []) })
    );
  }

  #closeMessage(answer: Answer, index: number): string {
    const { output } = responseBody(this.#head, { status: 'done', answer });
    const item = (output as JsonObject[])[index] as JsonObject;
    const part = (item.content as JsonObject[])[0] as JsonObject;
    const { text = '', logprobs = [] } = part;
    return (
      this.#write('response.output_text.done', { ...this.#place(index), text, logprobs }) +
      this.#write('response.content_part.done', { ...this.#place(index), part }) +
      this.#write('response.output_item.done', { output_index: index, item })
    );
  }

  #call(call: ToolCall): string {
    return (
      this.#openCall(call) + (call.arguments === '' ? '' : this.#callDelta(call.arguments)) + this.#closeCall(call)
    );
  }

  #openCall(call: ToolCall): string {
    const id = callItemId(this.#head, this.#calls);
    this.#calls += 1;
    const place = { item_id: id, output_index: this.#nextItem() };
    this.#openItem = place;
    const item = callItem(id, call, 'in_progress');
    return this.#write('response.output_item.added', { output_index: place.output_index, item });
  }

  #callDelta(delta: string): string {
    return this.#write('response.function_call_arguments.delta', { ...this.#openItem, delta });
  }

  #closeCall(call: ToolCall): string {
    const { item_id, output_index } = this.#openItem ?? { item_id: '', output_index: 0 };
    this.#openItem = null;
    const { name, arguments: text } = call;
    const done = { item_id, output_index, name, arguments: text };
    const item = callItem(item_id, call, 'completed');
    return (
      this.#write('response.function_call_arguments.done', done) +
      this.#write('response.output_item.done', { output_index, item })
    );
  }

  #place(index: number): JsonObject {
    return { item_id: messageItemId(this.#head), output_index: index, content_index: 0 };
  }

  #nextItem(): number {
    this.#items += 1;
    return this.#items - 1;
  }

  #response(type: string, progress: Progress): string {
    return this.#write(type, { response: responseBody(this.#head, progress) });
  }

  #write(type: string, body: JsonObject): string {
    const sequence = this.#sequence;
    this.#sequence += 1;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...body })}\n\n`;
  }
}
