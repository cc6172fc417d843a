import { type FileHandle, open } from 'node:fs/promises';
import { endianness } from 'node:os';
import { EngineError } from '../errors.ts';
import { float32FromBfloat16, float32FromFloat16 } from './number-formats.ts';
import { headerLength, parseHeader, type TensorEntry } from './safetensors-header.ts';
import { readError } from './text-file.ts';

/** An open weight file: its checked header, and its tensors on demand. */
export interface SafetensorsReader {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  readonly metadata: Readonly<Record<string, string>>;
  /**
   * F32, F16 or BF16 as float32, row-major.
   * @throws {EngineError} `tensor_missing`, `tensor_dtype_unsupported`, `safetensors_invalid`
   */
  read(name: string): Promise<Float32Array>;
  close(): Promise<void>;
}

export interface Tensor {
  shape: number[];
  data: Float32Array;
}

export interface SafetensorsContent {
  tensors: Map<string, Tensor>;
  metadata: Record<string, string>;
}

/**
 * Opens a safetensors file and checks its header.
 *
 * @throws {EngineError} `file_missing`, `file_unreadable`, `safetensors_invalid`
 */
export async function openSafetensors(path: string): Promise<SafetensorsReader> {
  const file = await open(path).catch((cause: unknown) => {
    throw readError(path, cause);
  });
  try {
    const { size } = await file.stat();
    const prefix = await readRange(file, 0, Math.min(8, size), path);
    const jsonBytes = headerLength(prefix, size, path);
    const dataBegin = 8 + jsonBytes;
    const { tensors, metadata } = parseHeader(await readRange(file, 8, jsonBytes, path), size - dataBegin, path);
    const read = async (name: string): Promise<Float32Array> => {
      const entry = tensors.get(name);
      if (!entry) throw tensorMissing(path, name, tensors);
      assertReadable(path, name, entry.dtype);
      return toFloat32(await readRange(file, dataBegin + entry.begin, entry.end - entry.begin, path), entry.dtype);
    };
    return { path, tensors, metadata, read, close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error instanceof EngineError ? error : readError(path, error);
  }
}

/** All tensors of one file, as float32. Errors as of `openSafetensors` and its `read`. */
export async function readSafetensors(path: string): Promise<SafetensorsContent> {
  const reader = await openSafetensors(path);
  try {
    const tensors = new Map<string, Tensor>();
    for (const [name, { shape }] of reader.tensors) tensors.set(name, { shape, data: await reader.read(name) });
    return { tensors, metadata: { ...reader.metadata } };
  } finally {
    await reader.close();
  }
}

function toFloat32(bytes: Uint8Array<ArrayBuffer>, dtype: string): Float32Array {
  if (dtype === 'F32') return new Float32Array(bytes.buffer);
  const halves = new Uint16Array(bytes.buffer);
  return dtype === 'BF16' ? float32FromBfloat16(halves) : float32FromFloat16(halves);
}

/** In pieces, because one read call is limited to 2 GiB. The bytes own their buffer, so that they can be viewed as numbers. */
export async function readRange(
  file: FileHandle,
  begin: number,
  length: number,
  path: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, Math.min(length - done, pieceBytes), begin + done);
    if (bytesRead === 0) throw readError(path, new Error(`it ended at byte ${begin + done} while being read`));
    done += bytesRead;
  }
  return bytes;
}

const pieceBytes = 1 << 28;

function assertReadable(path: string, name: string, dtype: string): void {
  if (endianness() !== 'LE')
    throw new EngineError({
      code: 'machine_unsupported',
      message: `${path} holds little-endian numbers, and this machine is big-endian.`,
      hint: 'Run on an x64 or arm64 machine.',
    });
  if (dtype === 'F32' || dtype === 'F16' || dtype === 'BF16') return;
  throw new EngineError({
    code: 'tensor_dtype_unsupported',
    message: `${path}: tensor "${name}" has dtype ${dtype}; supported are F32, F16 and BF16.`,
    hint: 'Save the model in one of these (transformers: model.to(torch.float32).save_pretrained(folder)).',
    category: 'user',
  });
}

function tensorMissing(path: string, name: string, tensors: ReadonlyMap<string, unknown>): EngineError {
  return new EngineError({
    code: 'tensor_missing',
    message: `${path} has no tensor "${name}"; it holds ${tensors.size} tensors.`,
    hint: 'Copy or download the file again, or check that it belongs to this model.',
    category: 'user',
  });
}
