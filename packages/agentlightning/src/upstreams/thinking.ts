import { overlap } from './stop-filter.ts';

const open = '<think>';
const close = '</think>';

export interface Thought {
  reasoning: string;
  answer: string;
}

/**
 * Cuts thinking out of an answer's beginning: `<think>…</think>` of Qwen 3 and DeepSeek R1, or only `…</think>` where the
 * template has opened the block already. White space around the block belongs to its form. Thinking that is never closed
 * is thinking to the end. A block behind other text is text.
 */
export class ThinkingParser {
  #state: 'before' | 'inside' | 'after' | 'done';
  #pending = '';

  /** @param opened the prompt ends within a thinking block */
  constructor(opened: boolean) {
    this.#state = opened ? 'inside' : 'before';
  }

  push(text: string): Thought {
    this.#pending += text;
    return this.#read(false);
  }

  end(): Thought {
    return this.#read(true);
  }

  #read(last: boolean): Thought {
    const told: Thought = { reasoning: '', answer: '' };
    if (this.#state === 'before') this.#begin(last);
    if (this.#state === 'inside') told.reasoning = this.#think(last);
    if (this.#state === 'after') this.#leave(last);
    if (this.#state === 'done') told.answer = this.#take(this.#pending.length);
    return told;
  }

  /** Decides whether the answer begins with a block; white space alone decides nothing. */
  #begin(last: boolean): void {
    const text = this.#pending.trimStart();
    if (text.startsWith(open)) {
      this.#pending = text.slice(open.length);
      this.#state = 'inside';
    } else if (last || !open.startsWith(text)) {
      this.#state = 'done';
    }
  }

  #think(last: boolean): string {
    const end = this.#pending.indexOf(close);
    if (end >= 0) {
      const thought = this.#take(end).trimEnd();
      this.#take(close.length);
      this.#state = 'after';
      return this.#started(thought);
    }
    const held = last ? 0 : overlap(this.#pending, close);
    const free = this.#pending.slice(0, this.#pending.length - held);
    // White space may turn out to be the block's last.
    const kept = last ? free : free.trimEnd();
    return this.#started(this.#take(kept.length));
  }

  #thought = false;

  /** Without the white space that the block begins with. */
  #started(text: string): string {
    if (this.#thought) return text;
    const started = text.trimStart();
    this.#thought = started !== '';
    return started;
  }

  #leave(last: boolean): void {
    this.#pending = this.#pending.trimStart();
    if (last || this.#pending !== '') this.#state = 'done';
  }

  #take(length: number): string {
    const taken = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    return taken;
  }
}
