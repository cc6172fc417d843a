import { float16FromFloat32 } from '../number-formats.ts';

export type GgufNumbers = 'F32' | 'F16' | 'Q8_0';

/** What a file of these numbers says of itself (`llama_ftype`), and of each tensor (`ggml_type`). */
export const writtenFormats: Readonly<
  Record<
    GgufNumbers,
    { fileType: number; type: number; blockSize: number; encode: (values: Float32Array) => Uint8Array }
  >
> = {
  F32: { fileType: 0, type: 0, blockSize: 1, encode: bytesOf },
  F16: { fileType: 1, type: 1, blockSize: 1, encode: (values) => bytesOf(float16FromFloat32(values)) },
  Q8_0: { fileType: 7, type: 8, blockSize: 32, encode: encodeQ8Zero },
};

function bytesOf(values: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Blocks of 32 with one scale, as `quantize_row_q8_0_ref` of ggml-quants.c makes them: all in float32, halves away from zero. */
function encodeQ8Zero(values: Float32Array): Uint8Array {
  const blocks = values.length / 32;
  const bytes = new Uint8Array(blocks * 34);
  const scales = new Float32Array(blocks);
  for (let block = 0; block < blocks; block++) {
    let largest = 0;
    for (let i = 0; i < 32; i++) largest = Math.max(largest, Math.abs(values[block * 32 + i]!));
    scales[block] = largest / 127;
  }
  const halves = float16FromFloat32(scales);
  for (let block = 0; block < blocks; block++) {
    const inverse = scales[block] === 0 ? 0 : Math.fround(1 / scales[block]!);
    bytes[block * 34] = halves[block]! & 255;
    bytes[block * 34 + 1] = halves[block]! >> 8;
    for (let i = 0; i < 32; i++) {
      const x = Math.fround(values[block * 32 + i]! * inverse);
      bytes[block * 34 + 2 + i] = Math.sign(x) * Math.floor(Math.abs(x) + 0.5);
    }
  }
  return bytes;
}
