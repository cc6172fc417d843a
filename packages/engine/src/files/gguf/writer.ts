import type { FileHandle } from 'node:fs/promises';
import { writeFileAtomic } from '../atomic.ts';
import { type GgufNumbers, writtenFormats } from './number-writers.ts';

/** Metadata by key; the key's kind of number is part of the format. */
export type WritableValue =
  | { uint32: number }
  | { float32: number }
  | { flag: boolean }
  | { text: string }
  | { texts: readonly string[] }
  | { int32s: readonly number[] };

export interface WritableGgufTensor {
  /** Row-major, outermost first. */
  shape: readonly number[];
  numbers: GgufNumbers;
  data: () => Float32Array;
}

const alignment = 32;
const valueTypes = { uint32: 4, int32: 5, float32: 6, flag: 7, text: 8, list: 9 };

/**
 * Writes a GGUF file, version 3, atomically.
 *
 * @throws {EngineError} `disk_full`, `path_not_writable`, `write_failed`
 */
export async function writeGguf(
  path: string,
  metadata: ReadonlyMap<string, WritableValue>,
  tensors: ReadonlyMap<string, WritableGgufTensor>,
): Promise<void> {
  const header = new Bytes().raw(Buffer.from('GGUF')).uint32(3).uint64(tensors.size).uint64(metadata.size);
  for (const [key, value] of metadata) header.text(key).value(value);
  let offset = 0;
  for (const [name, { shape, numbers }] of tensors) {
    const { type, blockSize, bytesPerBlock } = { ...writtenFormats[numbers], bytesPerBlock: blockBytes[numbers] };
    header.text(name).uint32(shape.length);
    for (const size of shape.toReversed()) header.uint64(size);
    header.uint32(type).uint64(offset);
    offset = aligned(offset + (shape.reduce((product, size) => product * size, 1) / blockSize) * bytesPerBlock);
  }
  await writeFileAtomic(path, async (file) => {
    await writePadded(file, header.finish());
    for (const { numbers, data } of tensors.values()) await writePadded(file, writtenFormats[numbers].encode(data()));
  });
}

const blockBytes: Readonly<Record<GgufNumbers, number>> = { F32: 4, F16: 2, Q8_0: 34 };

function aligned(length: number): number {
  return Math.ceil(length / alignment) * alignment;
}

async function writePadded(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, Math.min(bytes.length - done, 1 << 28))).bytesWritten;
  await file.write(new Uint8Array(aligned(bytes.length) - bytes.length));
}

class Bytes {
  private readonly parts: Uint8Array[] = [];

  raw(bytes: Uint8Array): this {
    this.parts.push(bytes);
    return this;
  }

  uint32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return this.raw(bytes);
  }

  uint64(value: number): this {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    return this.raw(bytes);
  }

  text(value: string): this {
    const bytes = Buffer.from(value);
    return this.uint64(bytes.length).raw(bytes);
  }

  value(value: WritableValue): this {
    if ('uint32' in value) return this.uint32(valueTypes.uint32).uint32(value.uint32);
    if ('float32' in value)
      return this.uint32(valueTypes.float32).raw(new Uint8Array(Float32Array.of(value.float32).buffer));
    if ('flag' in value) return this.uint32(valueTypes.flag).raw(Uint8Array.of(Number(value.flag)));
    if ('text' in value) return this.uint32(valueTypes.text).text(value.text);
    if ('texts' in value) {
      this.uint32(valueTypes.list).uint32(valueTypes.text).uint64(value.texts.length);
      for (const text of value.texts) this.text(text);
      return this;
    }
    const numbers = Int32Array.from(value.int32s);
    this.uint32(valueTypes.list).uint32(valueTypes.int32).uint64(numbers.length);
    return this.raw(new Uint8Array(numbers.buffer));
  }

  finish(): Uint8Array {
    return Buffer.concat(this.parts);
  }
}
