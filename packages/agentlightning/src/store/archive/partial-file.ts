import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { translateFileError } from './errors.ts';

const flushBytes = 1024 * 1024;

/** A file that stands under its name when it is whole, and not before. Counts and sums up what goes in. */
export class PartialFile {
  readonly #path: string;
  readonly #partial: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #closed = false;
  bytes = 0;

  private constructor(path: string, partial: string, handle: FileHandle) {
    this.#path = path;
    this.#partial = partial;
    this.#handle = handle;
  }

  /** @throws {ArchiveError} `archive_unavailable`, `disk_full`, here and below */
  static async create(path: string): Promise<PartialFile> {
    const partial = `${path}.partial`;
    try {
      return new PartialFile(path, partial, await open(partial, 'w'));
    } catch (error) {
      throw translateFileError(error, path);
    }
  }

  /** The bytes are taken over, not copied. */
  async append(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    this.bytes += bytes.length;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= flushBytes) await this.#flush();
  }

  /** Of everything appended so far, hexadecimal. */
  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }

  async finish(): Promise<void> {
    try {
      await this.#flush();
      await this.#handle.sync();
      await this.#close();
      await rename(this.#partial, this.#path);
    } catch (error) {
      throw translateFileError(error, this.#path);
    }
  }

  async discard(): Promise<void> {
    this.#pending = [];
    await this.#close();
    await rm(this.#partial, { force: true });
  }

  async #flush(): Promise<void> {
    const chunk = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    try {
      for (let at = 0; at < chunk.length; ) at += (await this.#handle.write(chunk, at)).bytesWritten;
    } catch (error) {
      throw translateFileError(error, this.#path);
    }
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#handle.close();
  }
}
