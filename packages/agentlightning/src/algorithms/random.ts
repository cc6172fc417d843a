/**
 * A seed from a seed and the names of what it is for: FNV-1a over the parts, then the finaliser of MurmurHash3.
 * @returns a whole number from 0 to 2³¹ − 1
 */
export function seedFor(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(JSON.stringify(parts))) hash = Math.imul(hash ^ byte, 0x01000193);
  return scramble(hash) >>> 1;
}

/** Fisher–Yates with numbers drawn from the seed alone. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    // Splitmix32: each draw scrambles a counter that moves by the golden ratio.
    const draw = scramble(seed + Math.imul(last, 0x9e3779b9)) / 2 ** 32;
    const other = Math.floor(draw * (last + 1));
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
}

function scramble(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
