import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../errors.ts';
import { isJsonObject, type JsonObject, readError, readJsonObject, readOptionalJsonObject } from './text-file.ts';

/** The files beside the weights that make text of ids, as they are on disk. */
export interface TokenizerFiles {
  /** Content by file name; copied into a saved model byte by byte. */
  files: Map<string, Uint8Array>;
  /** Largest id + 1. */
  size: number;
  /** Id of the `eos_token` of tokenizer_config.json. */
  eosId: number | undefined;
}

const optionalNames = [
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'vocab.json',
  'merges.txt',
  'tokenizer.model',
  'chat_template.jinja',
];

/** @throws {EngineError} `file_missing` without tokenizer.json, `file_unreadable`, `json_invalid` */
export async function readTokenizerFiles(folder: string): Promise<TokenizerFiles> {
  const definition = await readJsonObject(join(folder, 'tokenizer.json'));
  const config = (await readOptionalJsonObject(join(folder, 'tokenizer_config.json'))) ?? {};
  const files = new Map([['tokenizer.json', await readBytes(join(folder, 'tokenizer.json'))]]);
  for (const name of optionalNames) {
    const content = await readBytes(join(folder, name)).catch(undefinedWhenMissing);
    if (content) files.set(name, content);
  }
  const ids = idsByToken(definition);
  const eos = isJsonObject(config.eos_token) ? config.eos_token.content : config.eos_token;
  return { files, size: sizeOf(ids), eosId: typeof eos === 'string' ? ids.get(eos) : undefined };
}

async function readBytes(path: string): Promise<Uint8Array> {
  return readFile(path).catch((cause: unknown) => {
    throw readError(path, cause);
  });
}

function undefinedWhenMissing(error: unknown): undefined {
  if (error instanceof EngineError && error.code === 'file_missing') return;
  throw error;
}

/** Vocabulary (of BPE and WordPiece an object, of Unigram a list) and added tokens. */
function idsByToken(definition: JsonObject): Map<string, number> {
  const ids = new Map<string, number>();
  const vocabulary = isJsonObject(definition.model) ? definition.model.vocab : undefined;
  const entries = Array.isArray(vocabulary)
    ? vocabulary.map((entry: unknown, id): [unknown, unknown] => [Array.isArray(entry) ? entry[0] : entry, id])
    : Object.entries(isJsonObject(vocabulary) ? vocabulary : {});
  const added = Array.isArray(definition.added_tokens) ? definition.added_tokens.filter(isJsonObject) : [];
  for (const { content, id } of added) entries.push([content, id]);
  for (const [token, id] of entries) if (typeof token === 'string' && typeof id === 'number') ids.set(token, id);
  return ids;
}

function sizeOf(ids: ReadonlyMap<string, number>): number {
  let size = 0;
  for (const id of ids.values()) size = Math.max(size, id + 1);
  return size;
}
