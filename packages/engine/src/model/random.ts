/** Uniform numbers in [0, 1). */
export type RandomUniform = () => number;

/** Mulberry32: the same seed gives the same numbers on every machine. */
export function seededUniform(seed: number): RandomUniform {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Normal numbers by the Box-Muller transform. */
export function normalArray(length: number, deviation: number, uniform: RandomUniform): Float32Array {
  const values = new Float32Array(length);
  for (let i = 0; i < length; i += 2) {
    const radius = deviation * Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    values[i] = radius * Math.cos(angle);
    if (i + 1 < length) values[i + 1] = radius * Math.sin(angle);
  }
  return values;
}
