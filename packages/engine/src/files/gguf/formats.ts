import { float32FromBfloat16, float32FromFloat16, float32OfHalf } from '../number-formats.ts';

/** How the numbers of a tensor are stored: blocks of numbers that share scales. */
export interface NumberFormat {
  readonly name: string;
  /** Numbers in a block. */
  readonly blockSize: number;
  readonly blockBytes: number;
  /** Writes the numbers of all blocks; `bytes` owns its buffer. */
  decode(bytes: Uint8Array<ArrayBuffer>, out: Float32Array): void;
}

/**
 * Formats by their number in a file (`ggml_type` of https://github.com/ggml-org/ggml/blob/master/include/ggml.h). Blocks are as in
 * ggml-quants.c; every number equals that of the Python package `gguf`, bit by bit: products are exact, so each is rounded once.
 */
export const numberFormats: ReadonlyMap<number, NumberFormat> = new Map([
  [0, { name: 'F32', blockSize: 1, blockBytes: 4, decode: (bytes, out) => out.set(new Float32Array(bytes.buffer)) }],
  [
    1,
    {
      name: 'F16',
      blockSize: 1,
      blockBytes: 2,
      decode: (bytes, out) => out.set(float32FromFloat16(new Uint16Array(bytes.buffer))),
    },
  ],
  [
    30,
    {
      name: 'BF16',
      blockSize: 1,
      blockBytes: 2,
      decode: (bytes, out) => out.set(float32FromBfloat16(new Uint16Array(bytes.buffer))),
    },
  ],
  [2, blocks('Q4_0', 32, 18, decodeQ4Zero)],
  [3, blocks('Q4_1', 32, 20, decodeQ4One)],
  [6, blocks('Q5_0', 32, 22, decodeQ5Zero)],
  [7, blocks('Q5_1', 32, 24, decodeQ5One)],
  [8, blocks('Q8_0', 32, 34, decodeQ8Zero)],
  [12, blocks('Q4_K', 256, 144, decodeQ4K)],
  [13, blocks('Q5_K', 256, 176, decodeQ5K)],
  [14, blocks('Q6_K', 256, 210, decodeQ6K)],
]);

/** Decodes the block that begins at `at` to the numbers from `to` on. */
type DecodeBlock = (bytes: Uint8Array, at: number, out: Float32Array, to: number) => void;

function blocks(name: string, blockSize: number, blockBytes: number, decodeBlock: DecodeBlock): NumberFormat {
  return {
    name,
    blockSize,
    blockBytes,
    decode(bytes, out) {
      for (let block = 0; block * blockBytes < bytes.length; block++)
        decodeBlock(bytes, block * blockBytes, out, block * blockSize);
    },
  };
}

function half(bytes: Uint8Array, at: number): number {
  return float32OfHalf(bytes[at]! | (bytes[at + 1]! << 8));
}

function signed(byte: number): number {
  return (byte << 24) >> 24;
}

/** Low nibbles hold the first half of a block, high ones the second. */
function decodeQ4Zero(bytes: Uint8Array, at: number, out: Float32Array, to: number): void {
  const scale = half(bytes, at);
  for (let i = 0; i < 16; i++) {
    const pair = bytes[at + 2 + i]!;
    out[to + i] = scale * ((pair & 15) - 8);
    out[to + 16 + i] = scale * ((pair >> 4) - 8);
  }
}

function decodeQ4One(bytes: Uint8Array, at: number, out: Float32Array, to: number): void {
  const scale = half(bytes, at);
  const least = half(bytes, at + 2);
  for (let i = 0; i < 16; i++) {
    const pair = bytes[at + 4 + i]!;
    out[to + i] = scale * (pair & 15) + least;
    out[to + 16 + i] = scale * (pair >> 4) + least;
  }
}

/** Bit i of the 32 at `at` is the fifth bit of number i. */
function fifthBit(bytes: Uint8Array, at: number, i: number): number {
  return ((bytes[at + (i >> 3)]! >> (i & 7)) & 1) << 4;
}

function decodeQ5Zero(bytes: Uint8Array, at: number, out: Float32Array, to: number): void {
  const scale = half(bytes, at);
  for (let i = 0; i < 16; i++) {
    const pair = bytes[at + 6 + i]!;
    out[to + i] = scale * (((pair & 15) | fifthBit(bytes, at + 2, i)) - 16);
    out[to + 16 + i] = scale * (((pair >> 4) | fifthBit(bytes, at + 2, i + 16)) - 16);
  }
}

function decodeQ5One(bytes: Uint8Array, at: number, out: Float32Array, to: number): void {
  const scale = half(bytes, at);
  const least = half(bytes, at + 2);
  for (let i = 0; i < 16; i++) {
    const pair = bytes[at + 8 + i]!;
    out[to + i] = scale * ((pair & 15) | fifthBit(bytes, at + 4, i)) + least;
    out[to + 16 + i] = scale * ((pair >> 4) | fifthBit(bytes, at + 4, i + 16)) + least;
  }
}

function decodeQ8Zero(bytes: Uint8Array, at: number, out: Float32Array, to: number): void {
  const scale = half(bytes, at);
  for (let i = 0; i < 32; i++) out[to + i] = scale * signed(bytes[at + 2 + i]!);
}

/** Eight sub-blocks of 32 with 6-bit scales and minima, packed into the 12 bytes at `at`. */
function subScale(bytes: Uint8Array, at: number, sub: number): { scale: number; least: number } {
  if (sub < 4) return { scale: bytes[at + sub]! & 63, least: bytes[at + 4 + sub]! & 63 };
  const low = bytes[at + 4 + sub]!;
  return {
    scale: (low & 15) | ((bytes[at + sub - 4]! >> 2) & 0x30),
    least: (low >> 4) | ((bytes[at + sub]! >> 2) & 0x30),
  };
}

function decodeQ4K(bytes: Uint8Array, at: number, out: Float32Array, to: number): void {
  decodeSubBlocks(bytes, at, out, to, { numbers: at + 16, highBits: undefined });
}

function decodeQ5K(bytes: Uint8Array, at: number, out: Float32Array, to: number): void {
  decodeSubBlocks(bytes, at, out, to, { numbers: at + 48, highBits: at + 16 });
}

function decodeSubBlocks(
  bytes: Uint8Array,
  at: number,
  out: Float32Array,
  to: number,
  places: { numbers: number; highBits: number | undefined },
): void {
  const [unit, leastUnit] = [half(bytes, at), half(bytes, at + 2)];
  for (let sub = 0; sub < 8; sub++) {
    const packed = subScale(bytes, at + 4, sub);
    const [scale, least] = [unit * packed.scale, leastUnit * packed.least];
    const from = places.numbers + (sub >> 1) * 32; // two sub-blocks share 32 bytes, by nibbles
    for (let i = 0; i < 32; i++) {
      const low = (bytes[from + i]! >> (4 * (sub & 1))) & 15;
      const high = places.highBits === undefined ? 0 : ((bytes[places.highBits + i]! >> sub) & 1) << 4;
      out[to + sub * 32 + i] = scale * (low | high) - least;
    }
  }
}

/** Low nibbles, then 2 high bits, then a signed scale for each 16 numbers, then the scale of scales. */
function decodeQ6K(bytes: Uint8Array, at: number, out: Float32Array, to: number): void {
  const unit = half(bytes, at + 208);
  for (let row = 0; row < 8; row++) {
    const [part, within] = [row >> 2, row & 3];
    const low = at + part * 64 + (within & 1) * 32;
    const high = at + 128 + part * 32;
    for (let i = 0; i < 32; i++) {
      const scale = unit * signed(bytes[at + 192 + row * 2 + (i >> 4)]!);
      const number = ((bytes[low + i]! >> (4 * (within >> 1))) & 15) | (((bytes[high + i]! >> (2 * within)) & 3) << 4);
      out[to + row * 32 + i] = scale * (number - 32);
    }
  }
}
