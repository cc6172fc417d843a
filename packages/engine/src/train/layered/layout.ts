import { blockInputs } from './attention.ts';

/** Where the tokens of some rows lie: behind each other without a gap, and for attention in B rows of T slots. */
export interface Layout {
  tokens: number;
  /** First token of each row. */
  offsets: readonly number[];
  /** B. */
  rows: number;
  /** T: tokens of the longest row. */
  width: number;
  /** [N]: place of each token in its row. */
  positions: BigInt64Array;
  /** [B · T]: the token in each slot, N in empty ones. */
  slots: BigInt64Array;
  /** [N]: the slot of each token. */
  slotOf: BigInt64Array;
}

/** @param lengths tokens of each row */
export function layOut(lengths: readonly number[]): Layout {
  const width = Math.max(...lengths);
  const tokens = lengths.reduce((all, length) => all + length, 0);
  const positions = new BigInt64Array(tokens);
  const slots = new BigInt64Array(lengths.length * width).fill(BigInt(tokens));
  const slotOf = new BigInt64Array(tokens);
  const offsets: number[] = [];
  let next = 0;
  lengths.forEach((length, row) => {
    offsets.push(next);
    for (let position = 0; position < length; position++, next++) {
      positions[next] = BigInt(position);
      slots[row * width + position] = BigInt(next);
      slotOf[next] = BigInt(row * width + position);
    }
  });
  return { tokens, offsets, rows: lengths.length, width, positions, slots, slotOf };
}

/**
 * Into how many blocks rows of so many tokens are cut: blocks of up to 256 queries, of more in rows beyond 4,096. Powers of two, so that few
 * graphs serve all lengths.
 */
export function blockCount(width: number): number {
  return Math.min(16, 2 ** Math.max(0, Math.ceil(Math.log2(width / 256))));
}

interface BlockShape {
  width: number;
  blocks: number;
  /** Query heads that share a key head. */
  groupSize: number;
  /** A query sees itself and `window − 1` tokens before it. */
  window: number;
}

/** The arrays that `blockedAttention` reads about its blocks, by name. */
export function blockArrays({ width, blocks, groupSize, window }: BlockShape) {
  const arrays: Record<string, BigInt64Array | Float32Array> = {};
  for (let block = 0; block < blocks; block++) {
    const from = Math.floor((block * width) / blocks);
    const to = Math.floor(((block + 1) * width) / blocks);
    const first = blocks === 1 ? 0 : Math.max(0, from - window + 1);
    const names = blockInputs(block);
    arrays[names.queries] = integers(from);
    arrays[names.queriesEnd] = integers(to);
    arrays[names.queryPads] = integers(0, 0, 0, from, 0, 0, 0, 0, width - to, 0);
    arrays[names.keys] = integers(first);
    arrays[names.keyPads] = integers(0, 0, first, 0, 0, 0, width - to, 0);
    arrays[names.queryPositions] = Float32Array.from(
      { length: groupSize * (to - from) },
      (_, i) => from + (i % (to - from)),
    );
    arrays[names.keyPositions] = Float32Array.from({ length: to - first }, (_, i) => first + i);
  }
  return arrays;
}

function integers(...values: number[]): BigInt64Array {
  return BigInt64Array.from(values, BigInt);
}
