import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bfloat16FromFloat32, float32FromBfloat16, float32FromFloat16 } from './number-formats.ts';

const halves = Uint16Array.from({ length: 0x10000 }, (_, half) => half);
const toBfloat16 = (...values: number[]) => [...bfloat16FromFloat32(Float32Array.from(values))];

describe('bfloat16', () => {
  it('survives the way to float32 and back, all 65,536 of them', () => {
    const back = bfloat16FromFloat32(float32FromBfloat16(halves));
    const isSignallingNaN = (half: number) => (half & 0x7fff) > 0x7f80 && (half & 0x40) === 0;
    const changed = [...halves].filter((half) => back[half] !== half);
    expect(changed.every(isSignallingNaN)).toBe(true); // these become quiet
    expect(changed.every((half) => back[half] === (half | 0x40))).toBe(true);
  });

  it('rounds to the nearest, ties to even', () => {
    const ulp = 2 ** -7; // of a bfloat16 in [1, 2)
    expect(toBfloat16(1, 1 + ulp)).toEqual([0x3f80, 0x3f81]);
    expect(toBfloat16(1 + ulp / 2, 1 + 1.5 * ulp)).toEqual([0x3f80, 0x3f82]); // ties
    expect(toBfloat16(1 + ulp / 2 + 2 ** -20, 1 + ulp / 2 - 2 ** -20)).toEqual([0x3f81, 0x3f80]);
    expect(toBfloat16(3.4028234663852886e38, -Infinity, -0)).toEqual([0x7f80, 0xff80, 0x8000]);
    expect(toBfloat16(Number.NaN)[0]! & 0x7fff).toBeGreaterThan(0x7f80);
  });

  it('is never further away than half a step', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true, max: 2 ** 100, min: -(2 ** 100) }), (value) => {
        const near = float32FromBfloat16(bfloat16FromFloat32(Float32Array.of(value)))[0]!;
        expect(Math.abs(near - value)).toBeLessThanOrEqual(Math.max(Math.abs(value) * 2 ** -8, 2 ** -134));
      }),
    );
  });
});

describe('float16', () => {
  it('has the values of IEEE 754 binary16', () => {
    const known = [0x0000, 0x8000, 0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x03ff, 0x3555, 0x7c00, 0xfc00];
    const values = [0, -0, 1, -2, 65504, 2 ** -14, 2 ** -24, 1023 * 2 ** -24, 0.333251953125, Infinity, -Infinity];
    expect([...float32FromFloat16(Uint16Array.from(known))]).toEqual(values);
    expect(float32FromFloat16(Uint16Array.of(0x7e00))[0]).toBeNaN();
  });

  it('grows with its bits', () => {
    const positive = float32FromFloat16(halves.subarray(0, 0x7c01));
    expect(positive.every((value, i) => i === 0 || value > positive[i - 1]!)).toBe(true);
  });
});
