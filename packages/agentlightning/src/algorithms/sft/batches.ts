import { seedFor, shuffled } from '../random.ts';

/** Batches of one pass; the last one may be smaller. */
export const batchesPerPass = (items: number, batchSize: number): number => Math.ceil(items / batchSize);

/** The batch of an optimiser step, counted from 1: each pass is a new shuffle, and a resumed run goes on in the same order. */
export function batchOfStep<Item>(
  items: readonly Item[],
  { batchSize, seed }: { batchSize: number; seed: number },
  step: number,
): Item[] {
  const perPass = batchesPerPass(items.length, batchSize);
  const pass = Math.floor((step - 1) / perPass);
  const first = ((step - 1) % perPass) * batchSize;
  return shuffled(items, seedFor(seed, 'pass', pass)).slice(first, first + batchSize);
}
