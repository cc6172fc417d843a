import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtobufWriter } from './protobuf.ts';

const hex = (writer: ProtobufWriter) => Buffer.from(writer.finish()).toString('hex');

describe('ProtobufWriter', () => {
  it('writes the examples of the encoding guide', () => {
    // https://protobuf.dev/programming-guides/encoding/
    const inner = new ProtobufWriter().integer(1, 150);
    expect(hex(inner)).toBe('089601');
    expect(hex(new ProtobufWriter().string(2, 'testing'))).toBe('120774657374696e67');
    expect(hex(new ProtobufWriter().message(3, inner))).toBe('1a03089601');
    expect(hex(new ProtobufWriter().integer(1, -2))).toBe('08feffffffffffffffff01');
    expect(hex(new ProtobufWriter().float(16, 1))).toBe('85010000803f');
  });

  it('writes every safe integer as the varint that reads back as it', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const bytes = new ProtobufWriter().integer(1, value).finish().subarray(1);
        const read = bytes.reduce((sum, byte, i) => sum | (BigInt(byte & 127) << BigInt(7 * i)), 0n);
        expect(BigInt.asIntN(64, read)).toBe(BigInt(value));
        expect([...bytes].map((byte) => byte >> 7)).toEqual([...Array(bytes.length - 1).fill(1), 0]);
      }),
    );
  });
});
