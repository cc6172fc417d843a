import type { ModelConfig } from '../model/index.ts';

/**
 * Keys and values of all running sequences. Per layer and kind one array [rows, kvHeads, length, headSize], whose first rows are fed to
 * the model without a copy. `length` follows the longest sequence in steps, so attention costs what is in use.
 */
export class KeyValueCache {
  /** Positions per row at present. */
  length = 0;
  private readonly config: ModelConfig;
  private rows = 0;
  /** Per layer: keys, then values. */
  private arrays: Float32Array[];

  constructor(config: ModelConfig) {
    this.config = config;
    this.arrays = Array.from({ length: config.layers * 2 }, () => new Float32Array(0));
  }

  /** The first `rows` rows of a layer's keys (`kind` 0) or values (1), from `first` on: views, valid until the next `reserve`. */
  view(layer: number, kind: 0 | 1, first: number, rows: number): Float32Array {
    return this.arrays[layer * 2 + kind]!.subarray(first * this.rowSize, (first + rows) * this.rowSize);
  }

  /** Makes room for `rows` rows of at least `positions` positions; what the first `kept` rows hold stays. */
  reserve(rows: number, positions: number, kept: number): void {
    const wanted = cacheLength(positions, this.config.maxTokens);
    const shrinks = wanted <= this.length / 2;
    const length = shrinks ? wanted : Math.max(wanted, this.length);
    const capacity = Math.max(this.rows, 2 ** Math.ceil(Math.log2(rows)));
    if (length === this.length && capacity === this.rows) return;
    const size = this.config.kvHeads * length * this.config.headSize;
    this.arrays = this.arrays.map((array) => {
      const target = array.length >= capacity * size ? array : new Float32Array(capacity * size);
      relayout(
        array,
        target,
        kept * this.config.kvHeads,
        this.length * this.config.headSize,
        length * this.config.headSize,
      );
      return target;
    });
    this.length = length;
    this.rows = capacity;
  }

  /** Copies row `from` over row `to`. */
  copyRow(from: number, to: number): void {
    for (const array of this.arrays)
      array.copyWithin(to * this.rowSize, from * this.rowSize, (from + 1) * this.rowSize);
  }

  /** Removes what a failed sequence may have left: a masked NaN is still NaN. */
  clearRow(row: number): void {
    for (const array of this.arrays) array.fill(0, row * this.rowSize, (row + 1) * this.rowSize);
  }

  /**
   * Takes over `count` positions of one row of a run's output `fresh` [B, layers · 2 · kvHeads, width, headSize].
   *
   * @param source the row in the run
   * @param row the row of the cache
   * @param position where in the row they belong
   */
  write(fresh: Float32Array, width: number, source: number, row: number, position: number, count: number): void {
    const { kvHeads, headSize } = this.config;
    const block = width * headSize;
    const copied = count * headSize;
    let from = source * this.arrays.length * kvHeads * block;
    for (const array of this.arrays) {
      let to = row * this.rowSize + position * headSize;
      for (let head = 0; head < kvHeads; head++) {
        // For the short runs of a decoding step a loop is faster than a call of `set` with a view.
        if (copied > 256) array.set(fresh.subarray(from, from + copied), to);
        else for (let index = 0; index < copied; index++) array[to + index] = fresh[from + index]!;
        from += block;
        to += this.length * headSize;
      }
    }
  }

  /** Keys and values of `count` positions of a row, as `writeBlock` takes them. */
  readBlock(row: number, position: number, count: number): Float32Array {
    const block = new Float32Array(this.blockSize(count));
    this.eachRun(row, position, count, (array, from, offset, length) => {
      block.set(array.subarray(from, from + length), offset);
    });
    return block;
  }

  writeBlock(block: Float32Array, row: number, position: number, count: number): void {
    this.eachRun(row, position, count, (array, from, offset, length) => {
      array.set(block.subarray(offset, offset + length), from);
    });
  }

  /** Numbers of a block. */
  blockSize(count: number): number {
    return this.arrays.length * this.config.kvHeads * count * this.config.headSize;
  }

  /** Of each array and head the place in the array and in a block. */
  private eachRun(
    row: number,
    position: number,
    count: number,
    visit: (array: Float32Array, from: number, offset: number, length: number) => void,
  ): void {
    const { kvHeads, headSize } = this.config;
    const length = count * headSize;
    let offset = 0;
    for (const array of this.arrays) {
      for (let head = 0; head < kvHeads; head++, offset += length)
        visit(array, row * this.rowSize + (head * this.length + position) * headSize, offset, length);
    }
  }

  private get rowSize(): number {
    return this.config.kvHeads * this.length * this.config.headSize;
  }
}

/** Bytes that keys and values of so many rows of so many positions take at most. */
export function cacheSize(config: ModelConfig, rows: number, positions: number): number {
  const capacity = 2 ** Math.ceil(Math.log2(rows));
  return 4 * config.layers * 2 * config.kvHeads * config.headSize * capacity * cacheLength(positions, config.maxTokens);
}

/**
 * 64, 128, 192, 256, then four steps per doubling, up to the model's context. Always a multiple of 64: a softmax sums the rest of a
 * vector in another order, so that a row's bits would depend on how long the longest one is.
 */
export function cacheLength(positions: number, maxTokens: number): number {
  const step = Math.max(64, 2 ** Math.floor(Math.log2(Math.max(1, positions - 1))) / 4);
  return Math.min(Math.ceil(maxTokens / 64) * 64, Math.ceil(positions / step) * step);
}

/** Moves blocks of `oldSize` to a distance of `newSize` from each other, possibly within one array. */
function relayout(source: Float32Array, target: Float32Array, blocks: number, oldSize: number, newSize: number): void {
  const moved = Math.min(oldSize, newSize);
  // In place, growing must begin at the end and shrinking at the start, or blocks overwrite each other.
  for (let step = 0; step < blocks; step++) {
    const block = newSize > oldSize ? blocks - 1 - step : step;
    target.set(source.subarray(block * oldSize, block * oldSize + moved), block * newSize);
  }
}
