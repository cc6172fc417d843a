/**
 * Everything of a store as files, and back: tables to rows to formats. It must not know what rows mean to anybody but which refer
 * to which, nor where the database is.
 */
export { convertArchive, copyStore, exportArchive, importArchive } from './archive.ts';
export type { ArchiveDatabase } from './database.ts';
export { ArchiveError, assertNothingAt, translateFileError } from './errors.ts';
export { archiveFormats } from './formats.ts';
export type { ImportCounts } from './importer.ts';
export { PartialFile } from './partial-file.ts';
export { insertRows } from './rows.ts';
export { type ArchiveRow, type TableName, tableNamed } from './tables.ts';
