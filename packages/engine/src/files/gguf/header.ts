import { EngineError } from '../../errors.ts';
import { type NumberFormat, numberFormats } from './formats.ts';

/** A metadata value: numbers of 64 bits are numbers as well, since none that matters exceeds 2⁵³. */
export type GgufValue = number | boolean | string | readonly GgufValue[];

export interface GgufTensor {
  /** Row-major, outermost first: the reverse of the file. */
  shape: number[];
  format: NumberFormat;
  /** Bytes from the begin of the file. */
  begin: number;
  bytes: number;
}

export interface GgufHeader {
  metadata: ReadonlyMap<string, GgufValue>;
  tensors: ReadonlyMap<string, GgufTensor>;
}

/** Thrown where the header goes on beyond the bytes that were read so far. */
export class HeaderCutOff extends Error {}

const maxCount = 1 << 24;
const maxDepth = 4;

/**
 * Reads the header of a GGUF file, versions 2 and 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
 *
 * @param bytes the file's begin
 * @param fileBytes the whole file's length, against which every tensor is checked
 * @throws {HeaderCutOff} when more bytes are needed
 * @throws {EngineError} `gguf_invalid`, `tensor_dtype_unsupported`
 */
export function parseGgufHeader(bytes: Uint8Array, fileBytes: number, path: string): GgufHeader {
  const cursor = new Cursor(bytes, path);
  if (cursor.ascii(4) !== 'GGUF') throw ggufInvalid(path, 'it does not begin with "GGUF"');
  const version = cursor.uint32();
  if (version !== 2 && version !== 3) throw ggufInvalid(path, `it has version ${version}; 2 and 3 are read`);
  const tensorCount = cursor.count();
  const metadataCount = cursor.count();
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < metadataCount; i++) {
    const key = cursor.text();
    metadata.set(key, cursor.value(cursor.uint32(), key));
  }
  const found: { name: string; shape: number[]; type: number; offset: number }[] = [];
  for (let i = 0; i < tensorCount; i++) {
    const name = cursor.text();
    const rank = cursor.uint32();
    if (rank > 4) throw ggufInvalid(path, `tensor "${name}" has ${rank} axes`);
    const shape = Array.from({ length: rank }, () => cursor.uint64()).reverse();
    found.push({ name, shape, type: cursor.uint32(), offset: cursor.uint64() });
  }
  const alignment = Number(metadata.get('general.alignment') ?? 32);
  if (!(Number.isSafeInteger(alignment) && alignment > 0)) throw ggufInvalid(path, `its alignment is ${alignment}`);
  const dataBegin = Math.ceil(cursor.position / alignment) * alignment;
  const tensors = new Map<string, GgufTensor>();
  for (const { name, shape, type, offset } of found) {
    const format = numberFormats.get(type);
    if (format === undefined) throw unsupportedFormat(path, name, type);
    const count = shape.reduce((product, size) => product * size, 1);
    const bytesOfTensor = (count / format.blockSize) * format.blockBytes;
    if (!Number.isSafeInteger(bytesOfTensor) || (shape.at(-1) ?? 1) % format.blockSize !== 0)
      throw ggufInvalid(path, `tensor "${name}" of shape [${shape.join(', ')}] cannot be stored as ${format.name}`);
    const begin = dataBegin + offset;
    if (begin + bytesOfTensor > fileBytes)
      throw ggufInvalid(
        path,
        `tensor "${name}" should end at byte ${begin + bytesOfTensor}, but the file has ${fileBytes}: it is cut off`,
      );
    tensors.set(name, { shape, format, begin, bytes: bytesOfTensor });
  }
  return { metadata, tensors };
}

class Cursor {
  position = 0;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly path: string;
  private readonly decoder = new TextDecoder();

  constructor(bytes: Uint8Array, path: string) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.path = path;
  }

  uint32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  uint64(): number {
    const value = Number(this.view.getBigUint64(this.take(8), true));
    if (!Number.isSafeInteger(value)) throw ggufInvalid(this.path, `it holds the size ${value}`);
    return value;
  }

  count(): number {
    const value = this.uint64();
    if (value > maxCount) throw ggufInvalid(this.path, `it announces ${value} entries`);
    return value;
  }

  ascii(length: number): string {
    const from = this.take(length);
    return String.fromCharCode(...this.bytes.subarray(from, from + length));
  }

  text(): string {
    const length = this.uint64();
    if (length > 1 << 28) throw ggufInvalid(this.path, `it announces a text of ${length} bytes`);
    const from = this.take(length);
    return this.decoder.decode(this.bytes.subarray(from, from + length));
  }

  /** @param type `gguf_metadata_value_type` */
  value(type: number, key: string, depth = 0): GgufValue {
    switch (type) {
      case 0:
        return this.view.getUint8(this.take(1));
      case 1:
        return this.view.getInt8(this.take(1));
      case 2:
        return this.view.getUint16(this.take(2), true);
      case 3:
        return this.view.getInt16(this.take(2), true);
      case 4:
        return this.uint32();
      case 5:
        return this.view.getInt32(this.take(4), true);
      case 6:
        return this.view.getFloat32(this.take(4), true);
      case 7:
        return this.view.getUint8(this.take(1)) !== 0;
      case 8:
        return this.text();
      case 9:
        return this.array(key, depth);
      case 10:
        return Number(this.view.getBigUint64(this.take(8), true));
      case 11:
        return Number(this.view.getBigInt64(this.take(8), true));
      case 12:
        return this.view.getFloat64(this.take(8), true);
      default:
        throw ggufInvalid(this.path, `"${key}" has the unknown type ${type}`);
    }
  }

  private array(key: string, depth: number): GgufValue[] {
    if (depth >= maxDepth) throw ggufInvalid(this.path, `"${key}" is nested more than ${maxDepth} deep`);
    const type = this.uint32();
    const count = this.count();
    const values: GgufValue[] = [];
    for (let i = 0; i < count; i++) values.push(this.value(type, key, depth + 1));
    return values;
  }

  private take(length: number): number {
    const from = this.position;
    if (from + length > this.bytes.length) throw new HeaderCutOff();
    this.position = from + length;
    return from;
  }
}

export function ggufInvalid(path: string, problem: string): EngineError {
  return new EngineError({
    code: 'gguf_invalid',
    message: `${path} is not a GGUF file that can be read: ${problem}.`,
    hint: 'Copy or download the file again.',
    category: 'user',
  });
}

function unsupportedFormat(path: string, name: string, type: number): EngineError {
  const known = [...numberFormats.values()].map((format) => format.name).join(', ');
  return new EngineError({
    code: 'tensor_dtype_unsupported',
    message: `${path}: tensor "${name}" has the number format ${type} of ggml; supported are ${known}.`,
    hint: 'Choose a file in one of these formats, for instance Q8_0 or Q4_K_M.',
    category: 'user',
  });
}
