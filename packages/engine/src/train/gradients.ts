/** sum += values */
export function addInto(sum: Float32Array, values: Float32Array): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += values[i]!;
}

/** Adds row n of `rows` [N, width] to row `indices[n]` of `table` [V, width]: the transpose of a lookup. */
export function scatterAddRows(table: Float32Array, indices: Int32Array, rows: Float32Array, width: number): void {
  for (let n = 0; n < indices.length; n++) {
    const to = indices[n]! * width;
    const from = n * width;
    for (let j = 0; j < width; j++) table[to + j]! += rows[from + j]!;
  }
}
