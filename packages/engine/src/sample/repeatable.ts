import type { ModelConfig } from '../model/index.ts';

/**
 * When a row's result in ONNX Runtime's matrix product (MLAS, sgemm.cpp) depends on the rows beside it, found by comparing bits over
 * shapes: a single row takes another kernel; and a product over more than 128 numbers is summed in blocks whose length
 * grows once a thread's slice of columns is 64 or narrower, while the number of rows decides how columns are sliced.
 * The length of the cache adds exact zeros, and changes nothing as long as it is a whole number of vectors: `cacheLength`.
 */
const blockLength = 128;
const narrowSlice = 64;
/** Slices are made of so many columns. */
const columnStep = 16;

/** The most threads, up to `threads`, with which no slice of columns is narrow. */
export function repeatableThreads(config: ModelConfig, threads: number): number {
  const { hiddenSize, heads, kvHeads, headSize, intermediateSize, vocabularySize } = config;
  const products = [
    { length: hiddenSize, columns: heads * headSize },
    { length: hiddenSize, columns: kvHeads * headSize },
    { length: heads * headSize, columns: hiddenSize },
    { length: hiddenSize, columns: intermediateSize },
    { length: intermediateSize, columns: hiddenSize },
    { length: hiddenSize, columns: vocabularySize },
  ].filter(({ length }) => length > blockLength);
  let most = threads;
  const narrowest = ({ columns }: { columns: number }) => Math.floor(columns / columnStep / most) * columnStep;
  while (most > 1 && products.some((product) => narrowest(product) <= narrowSlice)) most -= 1;
  return most;
}

/** Rows of a run at least: two, and enough that no thread is left over to slice a head's columns. */
export const repeatableRows = ({ kvHeads }: ModelConfig, threads: number): number =>
  Math.max(2, Math.ceil(threads / kvHeads));
