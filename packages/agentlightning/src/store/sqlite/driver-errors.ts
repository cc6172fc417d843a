import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError, type StoreErrorCode } from '../errors.ts';

interface Meaning {
  code: StoreErrorCode;
  /** The driver gives SQLite's code on some paths only; SQLite's text is there always. */
  sqlite: readonly string[];
  errno?: readonly string[];
  what: string;
  hint: string;
}

const diskFull: Meaning = {
  code: 'disk_full',
  sqlite: ['database or disk is full'],
  errno: ['ENOSPC', 'EDQUOT'],
  what: 'cannot grow: the disk is full',
  hint: 'Free space on its disk, or move the file to a larger one, and go on (`agl resume`): everything acknowledged so far is kept.',
};

const meanings: readonly Meaning[] = [
  diskFull,
  {
    code: 'store_corrupted',
    sqlite: ['database disk image is malformed'],
    what: 'is damaged',
    hint: 'Restore it from a copy, or save what is readable with `sqlite3 FILE .recover`, and start a new file.',
  },
  {
    code: 'not_a_store',
    sqlite: ['file is not a database'],
    what: 'is not a store file',
    hint: 'Choose another path, or move the file away.',
  },
  {
    code: 'store_in_use',
    sqlite: ['database is locked', 'database table is locked'],
    what: 'is locked by another program',
    hint: 'Close the program that has the file open for writing.',
  },
  {
    code: 'store_unavailable',
    sqlite: ['disk I/O error', 'attempt to write a readonly database', 'unable to open database file'],
    errno: ['EACCES', 'EPERM', 'EROFS', 'EIO', 'EISDIR', 'ENOTDIR', 'EEXIST', 'ENOENT'],
    what: 'cannot be opened, read or written',
    hint: 'Check that the path names a file, that this user may write to it and to its folder, and that the disk is healthy.',
  },
  {
    code: 'invalid_value',
    sqlite: ['cannot store ', 'datatype mismatch', 'CHECK constraint failed', 'NOT NULL constraint failed'],
    what: 'does not take a value of this kind',
    hint: 'Numbers that count are whole; the text in brackets names table and column.',
  },
];

const ofUser: readonly StoreErrorCode[] = ['not_a_store', 'store_in_use', 'invalid_value'];

/** Gives an error of driver or file system its meaning for the store at `path`; others are returned as they are. */
export function translateDriverError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const errno = 'code' in error ? String(error.code) : '';
  const meaning = meanings.find(
    ({ sqlite, errno: codes = [] }) => sqlite.some((text) => error.message.includes(text)) || codes.includes(errno),
  );
  if (!meaning) return error;
  // SQLite reports a full disk as an I/O error when it was the shared-memory file that could not grow.
  const { code, what, hint } = error.message.includes('disk I/O error') && isFull(path) ? diskFull : meaning;
  return new StoreError({
    code,
    category: ofUser.includes(code) ? 'user' : 'system',
    message: `The store ${path} ${what} (${error.message}).`,
    hint: hint.replace('FILE', path),
    cause: error,
  });
}

export function translating<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translateDriverError(error, path);
  }
}

function isFull(path: string): boolean {
  const minFreeBytes = 64 * 1024;
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < minFreeBytes;
  } catch {
    return false;
  }
}
