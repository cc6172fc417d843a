import { createHash } from 'node:crypto';
import { access, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { writeFolderAtomic } from '../atomic.ts';
import { readError } from '../text-file.ts';
import { ggufConfig } from './config.ts';
import { GgufMetadata } from './metadata.ts';
import { openGguf } from './reader.ts';
import { ggufEosIds, ggufTokenizer } from './tokenizer.ts';

/** The file of a model folder that names a GGUF file for the weights. */
export const pointerName = 'weights.json';

/** Of what is written into a folder; another one makes old folders unused. */
const layout = 1;

/**
 * A model folder for a GGUF file, in the cache: configuration, tokenizer and template in Hugging Face's form, and a pointer to the
 * file for the weights, which are not copied. A file that changes gets a new folder.
 *
 * @returns the folder's path
 * @throws {EngineError} `file_missing`, `gguf_invalid`, `model_unsupported`, `tensor_dtype_unsupported`
 */
export async function ggufFolder(path: string, cacheFolder: string): Promise<string> {
  const file = resolve(path);
  const { size, mtimeMs } = await stat(file).catch((cause: unknown) => {
    throw readError(file, cause);
  });
  const id = createHash('sha256')
    .update(JSON.stringify([layout, file, size, mtimeMs]))
    .digest('hex')
    .slice(0, 16);
  const folder = join(cacheFolder, 'gguf', `${basename(file, '.gguf')}-${id}`);
  if (await exists(join(folder, pointerName))) return folder;
  const reader = await openGguf(file);
  try {
    const metadata = new GgufMetadata(reader);
    const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
    const files = new Map([
      ['config.json', json(await ggufConfig(reader, metadata))],
      ['generation_config.json', json({ eos_token_id: ggufEosIds(metadata) })],
      ...ggufTokenizer(metadata),
      [pointerName, json({ gguf: file })],
    ]);
    await writeFolderAtomic(folder, async (staging) => {
      for (const [name, text] of files) await writeFile(join(staging, name), text);
    });
  } finally {
    await reader.close();
  }
  return folder;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
