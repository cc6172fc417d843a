import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLogProbs, decodeTokenIds, encodeLogProbs, encodeTokenIds } from './blobs.ts';

describe('binary columns', () => {
  it('are little-endian behind a codec byte', () => {
    expect([...encodeTokenIds(Int32Array.of(1, -2))]).toEqual([1, 1, 0, 0, 0, 254, 255, 255, 255]);
    expect([...encodeLogProbs(Float32Array.of(-0.5))]).toEqual([2, 0, 0, 0, 191]);
  });

  it('give back every bit, also of a view into a larger buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(3), (bytes, offset) => {
        const length = Math.max(0, Math.floor((bytes.length - 4 * offset) / 4));
        const buffer = new Uint8Array(bytes).buffer;
        const ids = new Int32Array(buffer, 4 * offset * Math.sign(length), length);
        const logProbs = new Float32Array(ids.buffer, ids.byteOffset, length);
        expect(decodeTokenIds(encodeTokenIds(ids))).toEqual(ids);
        const decoded = decodeLogProbs(encodeLogProbs(logProbs));
        expect(new Int32Array(decoded.buffer)).toEqual(new Int32Array(ids));
      }),
    );
  });

  it('refuse a codec or a length that is not theirs', () => {
    const blob = encodeTokenIds(Int32Array.of(7));
    expect(() => decodeLogProbs(blob)).toThrow('has codec 1 and 5 bytes');
    expect(() => decodeTokenIds(blob.subarray(0, 4))).toThrow('has codec 1 and 4 bytes');
    expect(() => decodeTokenIds(new Uint8Array(0))).toThrow('has codec none');
  });
});
