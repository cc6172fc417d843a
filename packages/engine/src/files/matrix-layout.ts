/** Rows and columns exchanged: [rows, columns] → [columns, rows], both row-major. */
export function transposed(values: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(values.length);
  // Square blocks keep reads and writes within the cache lines that are already there.
  for (let rowBlock = 0; rowBlock < rows; rowBlock += blockSize) {
    const rowEnd = Math.min(rows, rowBlock + blockSize);
    for (let columnBlock = 0; columnBlock < columns; columnBlock += blockSize) {
      const columnEnd = Math.min(columns, columnBlock + blockSize);
      for (let row = rowBlock; row < rowEnd; row++) {
        for (let column = columnBlock; column < columnEnd; column++)
          result[column * rows + row] = values[row * columns + column]!;
      }
    }
  }
  return result;
}

const blockSize = 32;
