/**
 * Conversions between float32 and the 16-bit formats of weight files. Both directions are exact where the target can
 * hold the number; float32 → bfloat16 rounds to the nearest, ties to even, as IEEE 754 and PyTorch do.
 */

/** bfloat16 is the upper half of a float32. */
export function float32FromBfloat16(halves: Uint16Array): Float32Array {
  const bits = new Uint32Array(halves.length);
  for (let i = 0; i < halves.length; i++) bits[i] = halves[i]! << 16;
  return new Float32Array(bits.buffer);
}

export function bfloat16FromFloat32(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]!;
    const notANumber = (word & 0x7fffffff) > 0x7f800000;
    // Rounding could carry a NaN's mantissa into infinity, so a NaN keeps its upper half with the quiet bit set.
    halves[i] = notANumber ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return halves;
}

/** IEEE 754 binary16, by a table of all 65,536 values. */
export function float32FromFloat16(halves: Uint16Array): Float32Array {
  const table = float16Table();
  const values = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) values[i] = table[halves[i]!]!;
  return values;
}

/** Rounds to the nearest, ties to even; beyond 65504 becomes infinite. */
export function float16FromFloat32(values: Float32Array): Uint16Array {
  const halves = new Uint16Array(values.length);
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < values.length; i++) halves[i] = halfOf(bits[i]!);
  return halves;
}

function halfOf(word: number): number {
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // 65520 and above
  if (magnitude >= 0x38800000) {
    // normal: the exponent's bias changes by 112, and 13 bits of the fraction go
    const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
    return sign | ((rounded - 0x38000000) >>> 13);
  }
  if (magnitude < 0x33000000) return sign; // 2^-25 and less, the half way itself to even
  const shift = 126 - (magnitude >>> 23);
  const fraction = (magnitude & 0x7fffff) | 0x800000;
  const kept = fraction >>> shift;
  const rest = fraction & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return sign | (kept + (rest > half || (rest === half && (kept & 1) === 1) ? 1 : 0));
}

/** One binary16 number by its bits. */
export function float32OfHalf(bits: number): number {
  return float16Table()[bits]!;
}

let float16Values: Float32Array | undefined;

function float16Table(): Float32Array {
  float16Values ??= Float32Array.from({ length: 0x10000 }, (_, half) => float16Value(half));
  return float16Values;
}

function float16Value(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
