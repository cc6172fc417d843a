/**
 * One seed from several numbers: the finaliser of MurmurHash3 (Austin Appleby, public domain) chained over the parts,
 * so that neighbouring parts give unrelated seeds.
 *
 * @returns an unsigned 32-bit integer
 */
export function mixSeed(...parts: number[]): number {
  let state = 0x9e3779b9;
  for (const part of parts) {
    state = scramble(state ^ scramble(part >>> 0));
    // Seeds above 32 bits keep all their bits.
    state = scramble(state ^ (Math.floor(part / 0x1_0000_0000) >>> 0)) + 0x6d2b79f5;
  }
  return scramble(state);
}

function scramble(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
