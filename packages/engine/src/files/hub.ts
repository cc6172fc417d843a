import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EngineError } from '../errors.ts';
import { writeFileAtomic } from './atomic.ts';
import { isJsonObject } from './text-file.ts';

export interface HubOptions {
  /** Default: HF_ENDPOINT, else https://huggingface.co. */
  endpoint?: string;
  /** For private and gated models, sent to the endpoint only. Default: HF_TOKEN. */
  token?: string;
  signal?: AbortSignal;
  onProgress?: (progress: DownloadProgress) => void;
}

interface DownloadProgress {
  file: string;
  /** Of this file, those of an earlier attempt included. */
  doneBytes: number;
  totalBytes: number;
}

interface HubFile {
  path: string;
  size: number;
  /** SHA-256 of large files, git's SHA-1 of small ones. */
  digest: { algorithm: 'sha256' | 'git-sha1'; hex: string };
}

const form = /^hf:([\w.-]+\/[\w.-]+?)(?:@([\w.-]+))?(?:\/([\w./-]+\.gguf))?$/;
const useful =
  /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json$|^(merges\.txt|tokenizer\.model|chat_template\.jinja)$|^model.*\.safetensors(\.index\.json)?$/;
/** Attempts in a row that bring no byte. */
const patience = 5;

export function isHubReference(source: string): boolean {
  return source.startsWith('hf:');
}

/**
 * Downloads a model of the Hugging Face Hub (https://huggingface.co/docs/hub/api) into the cache, or finds it there: then nothing is
 * asked of the network. A broken connection is taken up where it ended; every file's size and digest are checked.
 *
 * @returns the model's folder, or with a file in the reference that file
 * @throws {EngineError} `hub_reference_invalid`, `model_not_found`, `hub_access_denied`, `download_failed`, `download_corrupt`
 */
export async function downloadModel(reference: string, cacheFolder: string, options: HubOptions = {}): Promise<string> {
  const [, id, revision = 'main', wanted] = form.exec(reference) ?? [];
  if (id === undefined) throw referenceInvalid(reference);
  const root = join(cacheFolder, 'hub', id.replace('/', '--'));
  const finished = join(root, `${revision}${wanted === undefined ? '' : `-${wanted.replaceAll('/', '-')}`}.finished`);
  const known = await readFile(finished, 'utf8').catch(() => undefined);
  if (known !== undefined) return join(root, known, wanted ?? '');
  const hub = new Hub(id, options);
  const { commit, files } = await hub.list(revision);
  const chosen = files.filter(({ path }) => (wanted === undefined ? useful.test(path) : path === wanted));
  if (chosen.length === 0) throw nothingUseful(reference, files);
  for (const file of chosen) await hub.download(file, commit, join(root, commit, file.path));
  await writeFileAtomic(finished, commit);
  return join(root, commit, wanted ?? '');
}

class Hub {
  private readonly id: string;
  private readonly endpoint: string;
  private readonly options: HubOptions;

  constructor(id: string, options: HubOptions) {
    this.id = id;
    this.options = options;
    this.endpoint = (options.endpoint ?? process.env.HF_ENDPOINT ?? 'https://huggingface.co').replace(/\/$/, '');
  }

  async list(revision: string): Promise<{ commit: string; files: HubFile[] }> {
    const url = `${this.endpoint}/api/models/${this.id}/revision/${encodeURIComponent(revision)}?blobs=true`;
    const response = await this.fetch(url, {});
    const answer: unknown = await response.json();
    if (!isJsonObject(answer) || typeof answer.sha !== 'string' || !Array.isArray(answer.siblings))
      throw failed(url, 'the answer is not a list of files');
    if (!/^[\w.-]+$/.test(answer.sha)) throw failed(url, `the commit is called ${JSON.stringify(answer.sha)}`);
    return { commit: answer.sha, files: answer.siblings.flatMap(hubFile) };
  }

  /** Into `<target>.partial`, whose bytes an earlier attempt may have left; then checked, then renamed. */
  async download(file: HubFile, commit: string, target: string): Promise<void> {
    if ((await sizeOf(target)) === file.size) return;
    await mkdir(dirname(target), { recursive: true });
    const partial = `${target}.${file.digest.hex.slice(0, 12)}.partial`;
    const url = `${this.endpoint}/${this.id}/resolve/${commit}/${file.path.split('/').map(encodeURIComponent).join('/')}`;
    let fruitless = 0;
    for (let done = (await sizeOf(partial)) ?? 0; done !== file.size; ) {
      const before = done;
      let cause: unknown;
      try {
        await this.appendFrom(url, partial, before, file);
      } catch (error) {
        if (error instanceof EngineError && !error.retryable) throw error;
        this.options.signal?.throwIfAborted();
        cause = error;
      }
      done = (await sizeOf(partial)) ?? 0;
      if (done > file.size) await rm(partial);
      fruitless = done > before ? 0 : fruitless + 1;
      if (fruitless >= patience) throw failed(url, `it broke off ${patience} times at byte ${done}`, cause);
    }
    if (file.size === 0) await writeFile(partial, '');
    if ((await digestOf(partial, file)) !== file.digest.hex) {
      await rm(partial);
      throw corrupt(url, file);
    }
    await rename(partial, target);
  }

  private async appendFrom(url: string, partial: string, from: number, file: HubFile): Promise<void> {
    const response = await this.fetch(url, from === 0 ? {} : { range: `bytes=${from}-` });
    const resumed = response.status === 206;
    const handle = await open(partial, resumed ? 'a' : 'w');
    try {
      let doneBytes = resumed ? from : 0;
      for await (const piece of response.body ?? []) {
        await handle.write(piece as Uint8Array);
        doneBytes += (piece as Uint8Array).length;
        this.options.onProgress?.({ file: file.path, doneBytes, totalBytes: file.size });
      }
    } finally {
      await handle.close();
    }
  }

  private async fetch(url: string, headers: Record<string, string>): Promise<Response> {
    const token = this.options.token ?? process.env.HF_TOKEN;
    const response = await fetch(url, {
      headers: { ...headers, 'accept-encoding': 'identity', ...(token && { authorization: `Bearer ${token}` }) },
      ...(this.options.signal && { signal: this.options.signal }),
    }).catch((cause: unknown) => {
      this.options.signal?.throwIfAborted();
      throw failed(url, cause instanceof Error ? cause.message : String(cause), cause);
    });
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status === 401 || response.status === 403) throw denied(url, response.status);
    if (response.status === 404) throw notFound(url, this.id);
    throw failed(url, `the server answered ${response.status}`);
  }
}

/** Paths that would leave the model's folder are left out; so are files without a digest. */
function hubFile(entry: unknown): HubFile[] {
  if (!isJsonObject(entry) || typeof entry.rfilename !== 'string') return [];
  const { rfilename: path, size, blobId, lfs } = entry;
  if (path.startsWith('/') || path.includes('\\') || path.split('/').includes('..')) return [];
  if (isJsonObject(lfs) && typeof lfs.sha256 === 'string' && typeof lfs.size === 'number')
    return [{ path, size: lfs.size, digest: { algorithm: 'sha256', hex: lfs.sha256 } }];
  if (typeof blobId !== 'string' || typeof size !== 'number') return [];
  return [{ path, size, digest: { algorithm: 'git-sha1', hex: blobId } }];
}

async function digestOf(path: string, { digest, size }: HubFile): Promise<string> {
  const hash: Hash = digest.algorithm === 'sha256' ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`);
  for await (const piece of createReadStream(path)) hash.update(piece as Uint8Array);
  return hash.digest('hex');
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

function referenceInvalid(reference: string): EngineError {
  return new EngineError({
    code: 'hub_reference_invalid',
    message: `"${reference}" does not name a model of the Hugging Face Hub.`,
    hint: 'Write hf:owner/name, hf:owner/name@revision or hf:owner/name/file.gguf.',
    category: 'user',
  });
}

function nothingUseful(reference: string, files: readonly HubFile[]): EngineError {
  const ggufs = files.map(({ path }) => path).filter((path) => path.endsWith('.gguf'));
  return new EngineError({
    code: 'model_not_found',
    message: `${reference} has no such model; ${ggufs.length > 0 ? `its GGUF files are ${ggufs.join(', ')}` : 'it has neither safetensors nor GGUF files'}.`,
    hint: 'Name one of its GGUF files (hf:owner/name/file.gguf), or another model.',
    category: 'user',
  });
}

function notFound(url: string, id: string): EngineError {
  return new EngineError({
    code: 'model_not_found',
    message: `There is no model "${id}" or no such revision (${url} answered 404).`,
    hint: 'Check the name on the Hub; private models need HF_TOKEN.',
    category: 'user',
  });
}

function denied(url: string, status: number): EngineError {
  return new EngineError({
    code: 'hub_access_denied',
    message: `${url} answered ${status}: the model is private, gated, or does not exist.`,
    hint: 'Accept its licence on the Hub and set HF_TOKEN.',
    category: 'user',
  });
}

function failed(url: string, problem: string, cause?: unknown): EngineError {
  return new EngineError({
    code: 'download_failed',
    message: `Could not download ${url}: ${problem}.`,
    hint: 'Check the network and run the command again; what has arrived is kept. Without a network, name a folder or a GGUF file.',
    category: 'upstream',
    retryable: true,
    cause,
  });
}

function corrupt(url: string, { size, digest }: HubFile): EngineError {
  return new EngineError({
    code: 'download_corrupt',
    message: `${url} arrived with ${size} bytes, but their ${digest.algorithm} is not ${digest.hex}.`,
    hint: 'Run the command again; the file is fetched anew.',
    category: 'upstream',
    retryable: true,
  });
}
