/** Finds the end of a JSON object that arrives in pieces, by its brackets and strings alone. */
export class ObjectScanner {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #ended = false;

  /** The object is whole. */
  get ended(): boolean {
    return this.#ended;
  }

  /** @returns how much of the text belongs to the object; less than all of it when the object ends, or cannot be one */
  push(text: string): number {
    for (let index = 0; index < text.length; index += 1) {
      if (this.#ended) return index;
      const character = text[index];
      if (this.#inString) this.#readString(character);
      else if (character === '"') this.#inString = true;
      else if (character === '{' || character === '[') this.#depth += 1;
      else if (character === '}' || character === ']') this.#close();
      // Outside of strings no JSON has it: a tag begins, and the object was never ended.
      else if (character === '<') return index;
    }
    return text.length;
  }

  #readString(character: string | undefined): void {
    if (this.#escaped) this.#escaped = false;
    else if (character === '\\') this.#escaped = true;
    else if (character === '"') this.#inString = false;
  }

  #close(): void {
    this.#depth -= 1;
    this.#ended = this.#depth <= 0;
  }
}
