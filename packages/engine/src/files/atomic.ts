import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { EngineError } from '../errors.ts';

/**
 * Writes a file so that a reader sees the old content or the whole new one: temporary name, fsync, rename.
 *
 * @param content the whole content, or a function that writes it to the handle piece by piece
 * @throws {EngineError} `disk_full`, `path_not_writable` or `write_failed`, naming the path
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array | ((file: FileHandle) => Promise<void>),
): Promise<void> {
  const temporary = siblingOf(path);
  try {
    await removeAbandoned(path);
    const file = await open(temporary, 'wx');
    try {
      await (typeof content === 'function' ? content(file) : file.writeFile(content));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw writeError(path, error);
  }
}

/**
 * Writes a folder so that a reader sees the old one or the whole new one, even after a kill in the middle: `fill`
 * writes into a staging folder beside it, everything is synced, then it takes the name. An older folder of that name
 * is replaced; between the two renames it is called `<folder>.previous`, which `recoverFolder` undoes.
 *
 * @throws {EngineError} `disk_full`, `path_not_writable` or `write_failed`, naming the path; errors of `fill` that are
 *   EngineErrors pass through
 */
export async function writeFolderAtomic(folder: string, fill: (staging: string) => Promise<void>): Promise<void> {
  const target = resolve(folder); // a trailing slash would put the staging folder inside
  const staging = siblingOf(target);
  try {
    await recoverFolder(target);
    await mkdir(staging, { recursive: true });
    await removeAbandoned(target);
    await fill(staging);
    await syncTree(staging);
    const previous = previousOf(target);
    await rm(previous, { recursive: true, force: true });
    if (await exists(target)) await rename(target, previous);
    await rename(staging, target);
    await syncFolder(dirname(target));
    await rm(previous, { recursive: true, force: true });
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    await recoverFolder(target);
    throw writeError(target, isWriteError(error) ? error.cause : error); // the staging folder's name helps nobody
  }
}

/**
 * Undoes a replacement that was killed between its two renames. Call it before reading a folder that
 * `writeFolderAtomic` may have been replacing; does nothing otherwise.
 */
export async function recoverFolder(folder: string): Promise<void> {
  const target = resolve(folder);
  const previous = previousOf(target);
  if (!(await exists(target)) && (await exists(previous))) await rename(previous, target);
}

/** What a failed write means for the person who started it. EngineErrors pass through unchanged. */
export function writeError(path: string, cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause;
  const errno = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (errno === 'ENOSPC' || errno === 'EDQUOT')
    return new EngineError({
      code: 'disk_full',
      message: `No space left while writing ${path}.`,
      hint: 'Free some space or choose a folder on another disk, then run the command again; what was there before is untouched.',
      retryable: true,
      cause,
    });
  if (errno === 'EACCES' || errno === 'EPERM' || errno === 'EROFS')
    return new EngineError({
      code: 'path_not_writable',
      message: `No permission to write ${path} (${errno}).`,
      hint: 'Choose a folder that this user may write to, or change its permissions.',
      category: 'user',
      cause,
    });
  return new EngineError({
    code: 'write_failed',
    message: `Could not write ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: 'Check that the folder exists and is not a file.',
    cause,
  });
}

function isWriteError(error: unknown): error is EngineError {
  return error instanceof EngineError && ['disk_full', 'path_not_writable', 'write_failed'].includes(error.code);
}

/** In the same folder, because a rename is atomic only within one file system. */
function siblingOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.${randomBytes(6).toString('hex')}.partial`);
}

/** Frees what killed writers of the same path left behind; a living process may still be writing its own. */
async function removeAbandoned(path: string): Promise<void> {
  const folder = dirname(path);
  const prefix = `.${basename(path)}.`;
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const writer = /^(\d+)\.[0-9a-f]{12}\.partial$/.exec(name.slice(prefix.length))?.[1];
    if (writer !== undefined && !isAlive(Number(writer)))
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'; // somebody else's process
  }
}

function previousOf(folder: string): string {
  return `${folder}.previous`;
}

async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}

async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) await syncPath(path, 'r+');
  }
  await syncFolder(folder);
}

/** Makes the names in a folder durable. Windows cannot open folders and needs no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await syncPath(folder, 'r');
}

async function syncPath(path: string, mode: 'r' | 'r+'): Promise<void> {
  const handle = await open(path, mode);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
