/** Turns token ids into text piece by piece; `IncrementalDecoder` of text/ is one. */
export interface TextPieces {
  /** The text that this id completes, possibly none. */
  push(id: number): string;
}

/** Watches a growing answer for texts that end it. */
export class StopTextWatch {
  private readonly texts: readonly string[];
  private readonly pieces: TextPieces;
  private readonly longest: number;
  /** The end of the answer so far, as long as a stop text could have begun in it. */
  private tail = '';

  /** @param texts none of them empty */
  constructor(texts: readonly string[], pieces: TextPieces) {
    this.texts = texts;
    this.pieces = pieces;
    this.longest = Math.max(...texts.map((text) => text.length));
  }

  /** Adds a token; true when the answer now contains one of the texts. */
  push(id: number): boolean {
    const fresh = this.tail + this.pieces.push(id);
    this.tail = fresh.slice(-this.longest);
    return this.texts.some((text) => fresh.includes(text));
  }
}
