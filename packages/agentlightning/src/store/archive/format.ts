import { ArchiveError } from './errors.ts';
import type { ArchiveRow, ArchiveTable, TableName } from './tables.ts';

/** Grows when a reader of before could not read it. */
export const archiveVersion = 1;
export const archiveMark = 'agentlightning-archive';

export type RowCounts = { [Name in TableName]?: number };

/** Takes rows table by table. Nothing stands at its place before `finish`. */
export interface ArchiveWriter {
  write(table: ArchiveTable, rows: readonly ArchiveRow[]): Promise<void>;
  finish(counts: RowCounts): Promise<void>;
  /** Removes what was written of it. */
  discard(): Promise<void>;
}

export interface ArchiveReader {
  /**
   * Reads all of it once.
   * @returns how many rows it has
   * @throws {ArchiveError} `archive_cut`, `archive_damaged`, `archive_too_new`
   */
  verify(): Promise<RowCounts>;
  batches(): AsyncIterable<{ table: ArchiveTable; rows: ArchiveRow[] }>;
}

/** One form in which everything of a store travels. */
export interface ArchiveFormat {
  name: string;
  summary: string;
  /** True when what lies at the path looks like one. */
  recognises(path: string): Promise<boolean>;
  create(path: string): Promise<ArchiveWriter>;
  open(path: string): ArchiveReader;
}

export function assertVersion(path: string, version: unknown): void {
  if (version === archiveVersion) return;
  throw new ArchiveError({
    code: 'archive_too_new',
    message: `The archive ${path} has version ${JSON.stringify(version)}; this program reads ${archiveVersion}.`,
    hint: 'Update agentlightning, and import again.',
  });
}

export function cut(path: string): ArchiveError {
  return new ArchiveError({
    code: 'archive_cut',
    message: `The archive ${path} ends before its end mark: it was not written or copied whole.`,
    hint: 'Copy or export it again. Nothing was imported.',
  });
}

export function damaged(path: string, what: string, cause?: unknown): ArchiveError {
  return new ArchiveError({
    code: 'archive_damaged',
    message: `The archive ${path} is damaged: ${what}.`,
    hint: 'Copy or export it again. Nothing was imported.',
    cause,
  });
}
