import { existsSync } from 'node:fs';
import { AgentLightningError, type AgentLightningErrorOptions } from '../../errors.ts';

export type ArchiveErrorCode =
  /** The file or folder ends before the archive does: a copy that was broken off, or an export that was killed. */
  | 'archive_cut'
  /** Its content is not what was written: the checksum or a row tells. */
  | 'archive_damaged'
  | 'not_an_archive'
  /** A file of trajectories is none, or of a form that this program does not read. */
  | 'not_a_trajectory'
  /** A later version of this program wrote it. */
  | 'archive_too_new'
  /** There is something at the place where the archive should go. */
  | 'archive_exists'
  /** The store has something else under the same id. Nothing was imported. */
  | 'import_conflict'
  /** The place of the archive has no space left. What was written of it is removed. */
  | 'disk_full'
  /** The file system refuses to read or write the archive. */
  | 'archive_unavailable'
  /** Archives go into the database itself, and not over HTTP. */
  | 'no_database';

/** Something is wrong with an archive, or with its place. */
export class ArchiveError extends AgentLightningError {
  declare readonly code: ArchiveErrorCode;

  constructor(options: AgentLightningErrorOptions & { code: ArchiveErrorCode }) {
    super({ category: 'user', ...options });
  }
}

/** @throws {ArchiveError} `archive_exists` */
export function assertNothingAt(path: string): void {
  if (!existsSync(path)) return;
  throw new ArchiveError({
    code: 'archive_exists',
    message: `There is something at ${path} already.`,
    hint: 'Choose another path, or remove what is there.',
  });
}

const fullCodes = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** Gives an error of the file system its meaning for the archive at `path`; others are returned as they are. */
export function translateFileError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || AgentLightningError.isInstance(error)) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return error;
  if (fullCodes.includes(code)) {
    return new ArchiveError({
      code: 'disk_full',
      category: 'system',
      message: `The archive ${path} cannot grow: the disk is full (${error.message}).`,
      hint: 'Free space or choose another place, and export again: what was written is removed, and the store is as it was.',
      cause: error,
    });
  }
  return new ArchiveError({
    code: 'archive_unavailable',
    message: `The archive ${path} cannot be read or written (${error.message}).`,
    hint: 'Check the path, and that this user may read or write there.',
    cause: error,
  });
}
