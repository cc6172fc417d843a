import { StoreError } from './errors.ts';

/** First byte of every binary column, so that a later version may pack differently and still read this. */
const tokenCodec = 1; // signed 32-bit, little-endian
const logProbCodec = 2; // IEEE 754 binary32, little-endian

const littleEndianHost = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const elementBytes = 4;

/** 1 + 4·n bytes. */
export function encodeTokenIds(ids: Int32Array): Uint8Array {
  return encode(tokenCodec, ids);
}

/** 1 + 4·n bytes; every bit pattern survives, NaN payloads included. */
export function encodeLogProbs(logProbs: Float32Array): Uint8Array {
  return encode(logProbCodec, logProbs);
}

/** @throws {StoreError} `store_corrupted` when codec or length is none that this version wrote */
export function decodeTokenIds(blob: Uint8Array): Int32Array {
  return new Int32Array(decode(tokenCodec, blob, 'token ids'));
}

/** @throws {StoreError} `store_corrupted` when codec or length is none that this version wrote */
export function decodeLogProbs(blob: Uint8Array): Float32Array {
  return new Float32Array(decode(logProbCodec, blob, 'log probs'));
}

function encode(codec: number, values: Int32Array | Float32Array): Uint8Array {
  const blob = new Uint8Array(1 + values.byteLength);
  blob[0] = codec;
  blob.set(toLittleEndian(values), 1);
  return blob;
}

/** A copy, because a typed array must start at a multiple of its element size and the values start at byte 1. */
function decode(codec: number, blob: Uint8Array, what: string): ArrayBuffer {
  if (blob[0] !== codec || (blob.length - 1) % elementBytes !== 0) {
    throw new StoreError({
      code: 'store_corrupted',
      message: `A column of ${what} has codec ${blob[0] ?? 'none'} and ${blob.length} bytes; codec ${codec} and 1 + 4·n bytes were expected.`,
      hint: 'The row was damaged or written by a newer version: update this program, or restore the file from a copy.',
    });
  }
  return fromLittleEndian(blob.subarray(1));
}

/** 4·n bytes; on most machines a view of the same memory. */
export function toLittleEndian(values: Int32Array | Float32Array): Uint8Array {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  if (littleEndianHost) return bytes;
  const swapped = bytes.slice();
  swapElements(swapped);
  return swapped;
}

/** A copy, for a typed array over it. */
export function fromLittleEndian(bytes: Uint8Array): ArrayBuffer {
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes);
  if (!littleEndianHost) swapElements(copy);
  return copy.buffer;
}

function swapElements(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += elementBytes) bytes.subarray(at, at + elementBytes).reverse();
}
