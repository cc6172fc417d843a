import type { JsonObject } from '../../store/types.ts';
import type { AnswerHead } from './dialect.ts';
import { reasoningItem, reasoningItemId } from './responses-answer.ts';

export interface ThoughtPlace {
  /** Takes the next output index. */
  nextItem(): number;
  write(type: string, body: JsonObject): string;
}

/** The events of a reasoning item: it is opened by its first text, and ended by whatever follows it. */
export class ResponsesThought {
  readonly #head: AnswerHead;
  readonly #place: ThoughtPlace;
  #open: { index: number; text: string } | null = null;

  constructor(head: AnswerHead, place: ThoughtPlace) {
    this.#head = head;
    this.#place = place;
  }

  delta(delta: string): string {
    let opened = '';
    if (this.#open === null) {
      const index = this.#place.nextItem();
      this.#open = { index, text: '' };
      opened =
        this.#write('response.output_item.added', { output_index: index, item: reasoningItem(this.#head, null) }) +
        this.#write('response.content_part.added', { ...this.#at(index), part: thoughtPart('') });
    }
    this.#open.text += delta;
    return opened + this.#write('response.reasoning_text.delta', { ...this.#at(this.#open.index), delta });
  }

  end(): string {
    if (this.#open === null) return '';
    const { index, text } = this.#open;
    this.#open = null;
    return (
      this.#write('response.reasoning_text.done', { ...this.#at(index), text }) +
      this.#write('response.content_part.done', { ...this.#at(index), part: thoughtPart(text) }) +
      this.#write('response.output_item.done', { output_index: index, item: reasoningItem(this.#head, text) })
    );
  }

  #at(index: number): JsonObject {
    return { item_id: reasoningItemId(this.#head), output_index: index, content_index: 0 };
  }

  #write(type: string, body: JsonObject): string {
    return this.#place.write(type, body);
  }
}

function thoughtPart(text: string): JsonObject {
  return { type: 'reasoning_text', text };
}
