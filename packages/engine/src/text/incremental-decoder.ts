import type { DecodeOptions, Tokenizer } from './tokenizer.ts';

const replacement = '\uFFFD';

/**
 * Turns a stream of ids into pieces of text. A character whose bytes are spread over several tokens arrives whole, with
 * the last of them. All pieces together, `finish()` included, are exactly what `decode` makes of all ids.
 */
export class IncrementalDecoder {
  readonly #tokenizer: Tokenizer;
  readonly #options: DecodeOptions;
  /** Ids whose text may still change; with tokenizers that do not decode in pieces, all of them. */
  #ids: number[] = [];
  /** How much of the text of `#ids` has been given out. */
  #given = 0;

  constructor(tokenizer: Tokenizer, options: DecodeOptions = {}) {
    this.#tokenizer = tokenizer;
    this.#options = options;
  }

  /** @returns the text that these ids complete, possibly none */
  push(...ids: number[]): string {
    this.#ids.push(...ids);
    const text = this.#tokenizer.decode(this.#ids, this.#options);
    // An unfinished character shows as one U+FFFD at the end (WHATWG Encoding, "maximal subpart").
    const unfinished = text.endsWith(replacement);
    const piece = text.slice(this.#given, unfinished ? -1 : text.length);
    if (!unfinished && this.#tokenizer.decodesInPieces) this.#forget();
    else this.#given = Math.max(this.#given, text.length - (unfinished ? 1 : 0));
    return piece;
  }

  /** @returns what is left: U+FFFD for a character that never became whole */
  finish(): string {
    const rest = this.#tokenizer.decode(this.#ids, this.#options).slice(this.#given);
    this.#forget();
    return rest;
  }

  #forget(): void {
    this.#ids = [];
    this.#given = 0;
  }
}
