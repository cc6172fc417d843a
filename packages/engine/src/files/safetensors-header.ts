import { EngineError } from '../errors.ts';

/**
 * The header of the safetensors format: 8 bytes with its length (little endian), then JSON that says for each tensor
 * its dtype, shape and byte range in the rest of the file. Source: https://github.com/huggingface/safetensors#format
 */

/** Bytes per number of every dtype of the format; the reader converts F32, F16 and BF16. */
const bytesOf: Readonly<Record<string, number>> = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  F8_E4M3: 1,
  F8_E5M2: 1,
  F8_E8M0: 1,
  C64: 8,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U64: 8,
  U32: 4,
  U16: 2,
  U8: 1,
  BOOL: 1,
};

/** The format's own limit, which keeps a broken length from allocating the whole memory. */
const maxHeaderBytes = 100_000_000;

export interface TensorEntry {
  dtype: string;
  shape: number[];
  /** Byte range counted from the end of the header. */
  begin: number;
  end: number;
}

export interface SafetensorsHeader {
  tensors: Map<string, TensorEntry>;
  metadata: Record<string, string>;
}

/**
 * @param prefix the first 8 bytes
 * @param file name for messages
 * @returns bytes of the JSON that follows
 * @throws {EngineError} `safetensors_invalid`
 */
export function headerLength(prefix: Uint8Array, fileBytes: number, file: string): number {
  if (prefix.length < 8) throw invalid(file, `is ${fileBytes} bytes long, too short for a safetensors file.`);
  const length = new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true);
  if (length > BigInt(maxHeaderBytes))
    throw invalid(file, `claims a header of ${length} bytes; the format allows ${maxHeaderBytes}.`);
  if (Number(length) + 8 > fileBytes)
    throw invalid(file, `is truncated: its header needs ${Number(length) + 8} bytes, the file has ${fileBytes}.`);
  return Number(length);
}

/**
 * Parses and checks the header: every tensor's range has the size its shape needs, ranges neither overlap nor leave
 * holes, and together they are exactly the rest of the file.
 *
 * @param json bytes of the JSON
 * @param dataBytes bytes of the file after the header
 * @param file name for messages
 * @throws {EngineError} `safetensors_invalid`, naming the file and the tensor
 */
export function parseHeader(json: Uint8Array, dataBytes: number, file: string): SafetensorsHeader {
  const { __metadata__: metadata, ...entries } = parseObject(json, file);
  const tensors = new Map<string, TensorEntry>();
  for (const [name, entry] of Object.entries(entries)) tensors.set(name, checkEntry(name, entry, file));
  checkRanges(tensors, dataBytes, file);
  return { tensors, metadata: checkMetadata(metadata, file) };
}

/** @returns length prefix and JSON, padded with spaces so that the data starts at a multiple of 8 bytes */
export function encodeHeader({ tensors, metadata }: SafetensorsHeader): Uint8Array {
  const entries: [string, unknown][] = Object.keys(metadata).length > 0 ? [['__metadata__', metadata]] : [];
  for (const [name, { dtype, shape, begin, end }] of tensors)
    entries.push([name, { dtype, shape, data_offsets: [begin, end] }]);
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const padded = Math.ceil(json.length / 8) * 8;
  const bytes = new Uint8Array(8 + padded).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(padded), true);
  bytes.set(json, 8);
  return bytes;
}

function parseObject(json: Uint8Array, file: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch (cause) {
    throw invalid(file, 'has a header that is not JSON.', cause);
  }
  if (!isObject(value)) throw invalid(file, 'has a header that is not a JSON object.');
  return value;
}

function checkEntry(name: string, entry: unknown, file: string): TensorEntry {
  const where = `has a broken entry for tensor "${name}":`;
  if (!isObject(entry)) throw invalid(file, `${where} it is not an object.`);
  const { dtype, shape, data_offsets: offsets } = entry;
  const bytesPerNumber = typeof dtype === 'string' && Object.hasOwn(bytesOf, dtype) ? bytesOf[dtype] : undefined;
  if (typeof dtype !== 'string' || bytesPerNumber === undefined)
    throw invalid(
      file,
      `${where} dtype ${JSON.stringify(dtype)} is unknown (known: ${Object.keys(bytesOf).join(', ')}).`,
    );
  if (!isSizes(shape)) throw invalid(file, `${where} shape ${JSON.stringify(shape)} is not a list of sizes.`);
  if (!isSizes(offsets) || offsets.length !== 2)
    throw invalid(file, `${where} data_offsets ${JSON.stringify(offsets)} is not [begin, end].`);
  const [begin, end] = offsets as [number, number];
  const needed = shape.reduce((product, size) => product * size, bytesPerNumber);
  if (end - begin !== needed)
    throw invalid(
      file,
      `${where} ${dtype} of shape [${shape.join(', ')}] needs ${needed} bytes, data_offsets give ${end - begin}.`,
    );
  return { dtype, shape, begin, end };
}

function checkRanges(tensors: Map<string, TensorEntry>, dataBytes: number, file: string): void {
  const inOrder = [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  let covered = 0;
  let before = 'the header';
  for (const [name, { begin, end }] of inOrder) {
    if (end > dataBytes)
      throw invalid(
        file,
        `is truncated: tensor "${name}" ends at byte ${end} of the data, which has ${dataBytes} bytes.`,
      );
    if (begin < covered) throw invalid(file, `has overlapping tensors: "${name}" begins inside "${before}".`);
    if (begin > covered)
      throw invalid(file, `has ${begin - covered} unused bytes between ${before} and tensor "${name}".`);
    covered = end;
    before = name;
  }
  if (covered < dataBytes) throw invalid(file, `has ${dataBytes - covered} unused bytes after its last tensor.`);
}

function checkMetadata(metadata: unknown, file: string): Record<string, string> {
  if (metadata === undefined) return {};
  if (!isObject(metadata)) throw invalid(file, 'has a __metadata__ that is not an object.');
  const texts = Object.entries(metadata).map(([key, value]): [string, string] => {
    if (typeof value !== 'string') throw invalid(file, `has a __metadata__ entry "${key}" that is not a text.`);
    return [key, value];
  });
  return Object.fromEntries(texts);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function invalid(file: string, problem: string, cause?: unknown): EngineError {
  return new EngineError({
    code: 'safetensors_invalid',
    message: `${file} ${problem}`,
    hint: 'Copy or download the file again, or export it again with the program that made it.',
    category: 'user',
    cause,
  });
}
