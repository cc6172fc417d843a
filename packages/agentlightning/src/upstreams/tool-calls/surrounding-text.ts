import type { ToolCallSink } from './parser.ts';

/**
 * Text around calls. White space at the start and after a call belongs to the form: it is dropped when a call or the end
 * follows, and kept before other text.
 */
export class SurroundingText {
  #space: string | null = '';
  #calls = 0;

  push(text: string, sink: ToolCallSink): void {
    if (this.#space === null) {
      sink.text(text);
      return;
    }
    const spaced = this.#space + text;
    this.#space = spaced.trim() === '' ? spaced : null;
    if (this.#space === null) sink.text(spaced);
  }

  /** A call stood here. */
  call(): void {
    this.#calls += 1;
    this.#space = '';
  }

  end(sink: ToolCallSink): void {
    if (this.#space && this.#calls === 0) sink.text(this.#space);
    this.#space = '';
  }
}
