/**
 * Keys and values of prompt pieces that were read before, by the whole text up to their end: the turns of a conversation begin alike, and
 * so do the rollouts of a group. A piece is a run's full width at a multiple of it, so it was computed from the same numbers as if it
 * were read again: what a request gets does not depend on what is kept here.
 */
export class PrefixStore {
  private readonly pieceTokens: number;
  private readonly maxBytes: number;
  /** In the order of their last use. */
  private readonly blocks = new Map<string, Float32Array>();
  private bytes = 0;

  constructor({ pieceTokens, maxBytes }: { pieceTokens: number; maxBytes: number }) {
    this.pieceTokens = pieceTokens;
    this.maxBytes = maxBytes;
  }

  /** Tokens at the beginning of a prompt that need not be read again: whole pieces, and never the last token, whose logits are wanted. */
  known(promptIds: Int32Array): number {
    let tokens = 0;
    while (tokens + this.pieceTokens < promptIds.length && this.blocks.has(key(promptIds, tokens + this.pieceTokens)))
      tokens += this.pieceTokens;
    return tokens;
  }

  /** The pieces of the first `tokens` tokens, in order. */
  take(promptIds: Int32Array, tokens: number): Float32Array[] {
    const pieces: Float32Array[] = [];
    for (let end = this.pieceTokens; end <= tokens; end += this.pieceTokens) {
      const id = key(promptIds, end);
      const block = this.blocks.get(id)!;
      this.blocks.delete(id);
      this.blocks.set(id, block);
      pieces.push(block);
    }
    return pieces;
  }

  /** @param values makes the keys and values of the piece that ends at `end`; not called for a piece that is known or can never fit */
  put(promptIds: Int32Array, end: number, { bytes, values }: { bytes: number; values: () => Float32Array }): void {
    const id = key(promptIds, end);
    if (bytes > this.maxBytes || this.blocks.has(id)) return;
    for (const [stalest, block] of this.blocks) {
      if (this.bytes + bytes <= this.maxBytes) break;
      this.blocks.delete(stalest);
      this.bytes -= block.byteLength;
    }
    this.blocks.set(id, values());
    this.bytes += bytes;
  }

  /** Other weights make other keys and values. */
  clear(): void {
    this.blocks.clear();
    this.bytes = 0;
  }
}

function key(promptIds: Int32Array, end: number): string {
  return Buffer.from(promptIds.buffer, promptIds.byteOffset, end * 4).toString('latin1');
}
