import type { FileHandle } from 'node:fs/promises';
import { EngineError } from '../errors.ts';
import { writeFileAtomic } from './atomic.ts';
import { bfloat16FromFloat32 } from './number-formats.ts';
import { encodeHeader, type TensorEntry } from './safetensors-header.ts';

export interface WritableTensor {
  shape: number[];
  /** A function is called when its turn comes, so that a transposed copy lives only that long. */
  data: Float32Array | (() => Float32Array);
}

export interface WriteSafetensorsOptions {
  /** BF16 rounds to the nearest, ties to even. Default F32. */
  dtype?: 'F32' | 'BF16';
  metadata?: Record<string, string>;
}

/**
 * Writes tensors atomically, in the order of their names, so that equal content gives equal bytes.
 *
 * @throws {EngineError} `disk_full`, `path_not_writable`, `write_failed`, `tensor_shape_mismatch`
 */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, WritableTensor>,
  { dtype = 'F32', metadata = {} }: WriteSafetensorsOptions = {},
): Promise<void> {
  const bytesPerNumber = dtype === 'F32' ? 4 : 2;
  const inOrder = [...tensors].sort(([a], [b]) => (a < b ? -1 : 1));
  const entries = new Map<string, TensorEntry>();
  let end = 0;
  for (const [name, { shape }] of inOrder) {
    const begin = end;
    end += bytesPerNumber * countOf(shape);
    entries.set(name, { dtype, shape, begin, end });
  }
  await writeFileAtomic(path, async (file) => {
    await writeAll(file, encodeHeader({ tensors: entries, metadata }));
    for (const [name, { shape, data }] of inOrder) {
      const values = typeof data === 'function' ? data() : data;
      if (values.length !== countOf(shape)) throw wrongLength(path, name, shape, values.length);
      await writeAll(file, bytesOf(dtype === 'F32' ? values : bfloat16FromFloat32(values)));
    }
  });
}

function countOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

function bytesOf(values: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, Math.min(bytes.length - done, pieceBytes));
    done += bytesWritten;
  }
}

/** One write call is limited to 2 GiB. */
const pieceBytes = 1 << 28;

function wrongLength(path: string, name: string, shape: number[], found: number): EngineError {
  return new EngineError({
    code: 'tensor_shape_mismatch',
    message: `${path}: tensor "${name}" of shape [${shape.join(', ')}] was given ${found} numbers to write.`,
  });
}
