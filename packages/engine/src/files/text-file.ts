import { readFile } from 'node:fs/promises';
import { EngineError } from '../errors.ts';

export type JsonObject = Record<string, unknown>;

/** @throws {EngineError} `file_missing`, `file_unreadable`, naming the file */
async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw readError(path, cause);
  });
}

/** @throws {EngineError} as `readText`, and `json_invalid` */
export async function readJsonObject(path: string): Promise<JsonObject> {
  return parseJsonObject(await readText(path), path);
}

/** `undefined` when the file does not exist. */
export async function readOptionalText(path: string): Promise<string | undefined> {
  return unlessMissing(readText(path));
}

/** `undefined` when the file does not exist. */
export async function readOptionalJsonObject(path: string): Promise<JsonObject | undefined> {
  return unlessMissing(readJsonObject(path));
}

async function unlessMissing<T>(content: Promise<T>): Promise<T | undefined> {
  return content.catch((error: unknown) => {
    if (error instanceof EngineError && error.code === 'file_missing') return undefined;
    throw error;
  });
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJsonObject(text: string, path: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw jsonInvalid(path, cause instanceof Error ? cause.message : 'it is not JSON', cause);
  }
  if (!isJsonObject(value)) throw jsonInvalid(path, 'it is not a JSON object');
  return value;
}

function jsonInvalid(path: string, problem: string, cause?: unknown): EngineError {
  return new EngineError({
    code: 'json_invalid',
    message: `${path} cannot be understood: ${problem}.`,
    hint: 'Correct the file, or copy or download it again.',
    category: 'user',
    cause,
  });
}

/** Why a file that should be there could not be read. */
export function readError(path: string, cause: unknown): EngineError {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')
    return new EngineError({
      code: 'file_missing',
      message: `${path} does not exist.`,
      hint: 'Check the path of the folder; copy or download the file into it.',
      category: 'user',
      cause,
    });
  return new EngineError({
    code: 'file_unreadable',
    message: `Could not read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: 'Check that it is a file and that this user may read it.',
    category: 'user',
    cause,
  });
}
