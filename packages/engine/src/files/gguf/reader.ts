import { open } from 'node:fs/promises';
import { EngineError } from '../../errors.ts';
import { readRange } from '../safetensors.ts';
import { readError } from '../text-file.ts';
import { type GgufHeader, ggufInvalid, HeaderCutOff, parseGgufHeader } from './header.ts';

/** An open GGUF file: its checked header, and its tensors on demand. */
export interface GgufReader extends GgufHeader {
  readonly path: string;
  /**
   * The numbers of a tensor as float32, row-major.
   * @throws {EngineError} `tensor_missing`, `file_unreadable`
   */
  read(name: string): Promise<Float32Array>;
  close(): Promise<void>;
}

/** Tokens and merges of large vocabularies take a few megabytes. */
const firstRead = 1 << 23;

/** @throws {EngineError} `file_missing`, `file_unreadable`, `gguf_invalid`, `tensor_dtype_unsupported` */
export async function openGguf(path: string): Promise<GgufReader> {
  const file = await open(path).catch((cause: unknown) => {
    throw readError(path, cause);
  });
  try {
    const { size } = await file.stat();
    const header = await readHeader((length) => readRange(file, 0, length, path), size, path);
    const read = async (name: string): Promise<Float32Array> => {
      const tensor = header.tensors.get(name);
      if (tensor === undefined) throw tensorMissing(path, name, header.tensors.size);
      const { begin, bytes, format } = tensor;
      const numbers = new Float32Array((bytes / format.blockBytes) * format.blockSize);
      format.decode(await readRange(file, begin, bytes, path), numbers);
      return numbers;
    };
    return { path, ...header, read, close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error instanceof EngineError ? error : readError(path, error);
  }
}

/** The header does not say how long it is, so more is read until it fits. */
async function readHeader(
  begin: (length: number) => Promise<Uint8Array>,
  fileBytes: number,
  path: string,
): Promise<GgufHeader> {
  for (let length = Math.min(firstRead, fileBytes); ; length = Math.min(2 * length, fileBytes)) {
    try {
      return parseGgufHeader(await begin(length), fileBytes, path);
    } catch (error) {
      if (!(error instanceof HeaderCutOff)) throw error;
      if (length === fileBytes) throw ggufInvalid(path, `it ends within its header, at byte ${fileBytes}`);
    }
  }
}

function tensorMissing(path: string, name: string, count: number): EngineError {
  return new EngineError({
    code: 'tensor_missing',
    message: `${path} has no tensor "${name}"; it holds ${count} tensors.`,
    hint: 'Copy or download the file again, or check that it is a whole language model.',
    category: 'user',
  });
}
