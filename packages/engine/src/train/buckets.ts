/** Rows that share one run of a graph of static shape. */
export interface Batch {
  /** Rows of the graph; at least `rows.length`, the rest is padding. */
  size: number;
  /** Positions of each row in the graph. */
  length: number;
  /** Indices into the planned rows. */
  rows: number[];
}

/**
 * Packs rows of mixed length into few shapes. Longest rows come first, so the rows of a batch are of similar length and only the
 * last batch is not full; its size is a half, a quarter, … of the full one, so that sessions can be reused between calls.
 *
 * @param positions predicted positions of each row; rows without any are left out
 * @param fullSize rows of a full batch whose rows have this length
 */
export function planBatches(positions: readonly number[], fullSize: (length: number) => number): Batch[] {
  const order = [...positions.keys()].filter((row) => positions[row]! > 0);
  order.sort((a, b) => positions[b]! - positions[a]! || a - b);
  const batches: Batch[] = [];
  for (let taken = 0; taken < order.length; ) {
    const length = bucketLength(positions[order[taken]!]!);
    const full = Math.max(1, Math.floor(fullSize(length)));
    const rows = order.slice(taken, taken + full);
    batches.push({ size: batchSize(rows.length, full), length, rows });
    taken += rows.length;
  }
  return batches;
}

/** Multiples of 16, from 256 on of a sixteenth of the power of two below: at most an eighth of a row beyond 128 is padding. */
function bucketLength(positions: number): number {
  let step = 16;
  while (positions > 16 * step) step *= 2; // 8 to 16 lengths between one power of two and the next
  return Math.ceil(positions / step) * step;
}

function batchSize(rows: number, full: number): number {
  let size = full;
  while (size > 1 && Math.ceil(size / 2) >= rows) size = Math.ceil(size / 2);
  return size;
}

/**
 * Sorts rows, longest first, into groups that a layered pass takes without padding: as many as `fits` allows, and one at least. Rows of a group
 * are of similar length, so that attention, which is laid out by the longest, wastes little.
 *
 * @param positions predicted positions of each row; rows without any are left out
 */
export function planGroups(
  positions: readonly number[],
  fits: (group: { tokens: number; rows: number; width: number }) => boolean,
): number[][] {
  const order = [...positions.keys()].filter((row) => positions[row]! > 0);
  order.sort((a, b) => positions[b]! - positions[a]! || a - b);
  const groups: number[][] = [];
  let tokens = 0;
  for (const row of order) {
    const group = groups.at(-1);
    tokens += positions[row]!;
    if (group !== undefined && fits({ tokens, rows: group.length + 1, width: positions[group[0]!]! })) group.push(row);
    else {
      groups.push([row]);
      tokens = positions[row]!;
    }
  }
  return groups;
}
