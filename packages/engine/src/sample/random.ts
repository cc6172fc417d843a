const multiplierA = 0xd2511f53;
const multiplierB = 0xcd9e8d57;
const weylA = 0x9e3779b9;
const weylB = 0xbb67ae85;

/** Four 32-bit words. */
export type Words = readonly [number, number, number, number];

/**
 * Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): a keyed bijection of a counter, so the
 * n-th number of a request is known without drawing the ones before it.
 *
 * @returns four unsigned 32-bit words
 */
export function philox(counter: Words, key: readonly [number, number]): Words {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const high0 = highProduct(multiplierA, c0);
    const low0 = Math.imul(multiplierA, c0);
    const high1 = highProduct(multiplierB, c2);
    const low1 = Math.imul(multiplierB, c2);
    [c0, c1, c2, c3] = [high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0];
    k0 = (k0 + weylA) | 0;
    k1 = (k1 + weylB) | 0;
  }
  return [c0 >>> 0, c1 >>> 0, c2 >>> 0, c3 >>> 0];
}

/**
 * Uniform number in [0, 1) with 53 random bits that belongs to token `index` of the request with `seed`: what else is being
 * sampled, and when, has no part in it.
 *
 * @param seed any safe integer
 */
export function uniform(seed: number, index: number): number {
  const [a, b] = philox([index, 0, 0, 0], [seed | 0, Math.floor(seed / 2 ** 32) | 0]);
  return ((a >>> 5) * 2 ** 26 + (b >>> 6)) / 2 ** 53;
}

/** Upper 32 bits of the product of two unsigned 32-bit numbers. */
function highProduct(a: number, b: number): number {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const carry = a0 * b1 + (middle % 65536);
  return a1 * b1 + Math.floor(middle / 65536) + Math.floor(carry / 65536);
}
