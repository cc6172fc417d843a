import type { ArchiveDatabase } from './database.ts';
import { ArchiveError, assertNothingAt, translateFileError } from './errors.ts';
import { type ArchiveFormat, damaged, type RowCounts } from './format.ts';
import { archiveFormats } from './formats.ts';
import { type ImportCounts, Importer, type ImportOptions } from './importer.ts';
import { readTable } from './rows.ts';
import { archiveTables } from './tables.ts';

/**
 * Writes everything that the store has at this moment. A file or folder stands at `path` when it is whole, and not before.
 *
 * @returns rows by table
 * @throws {ArchiveError} `archive_exists`, `disk_full`, `archive_unavailable`
 */
export async function exportArchive(
  database: ArchiveDatabase,
  { path, format, signal }: { path: string; format: ArchiveFormat; signal?: AbortSignal },
): Promise<RowCounts> {
  assertNothingAt(path);
  const writer = await format.create(path);
  try {
    const counts: RowCounts = {};
    await database.snapshot(async (db) => {
      for (const table of archiveTables) {
        for await (const rows of readTable(db, table)) {
          signal?.throwIfAborted();
          await writer.write(table, rows);
          counts[table.name] = (counts[table.name] ?? 0) + rows.length;
        }
      }
    });
    await writer.finish(counts);
    return counts;
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/**
 * Checks an archive as a whole, and writes it in another form, or the same.
 *
 * @returns rows by table
 * @throws {ArchiveError} as {@link exportArchive} and {@link importArchive}
 */
export async function convertArchive(
  from: string,
  { path, format, signal }: { path: string; format: ArchiveFormat; signal?: AbortSignal },
): Promise<RowCounts> {
  const reader = (await formatAt(from)).open(from);
  const counts = await reader.verify();
  assertNothingAt(path);
  const writer = await format.create(path);
  try {
    for await (const { table, rows } of reader.batches()) {
      signal?.throwIfAborted();
      await writer.write(table, rows);
    }
    await writer.finish(counts);
    return counts;
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/**
 * Checks the archive as a whole, then puts it into the store in one transaction: all of it or nothing. Importing it again
 * changes nothing.
 *
 * @throws {ArchiveError} `archive_cut`, `archive_damaged`, `archive_too_new`, `not_an_archive`, `import_conflict`
 */
export async function importArchive(
  database: ArchiveDatabase,
  { path, signal, ...options }: { path: string; signal?: AbortSignal } & ImportOptions,
): Promise<ImportCounts> {
  const reader = (await formatAt(path)).open(path);
  const expected = await reader.verify();
  let counts: ImportCounts = {};
  await database.write(async (db) => {
    const importer = new Importer(db, options);
    for await (const { table, rows } of reader.batches()) {
      signal?.throwIfAborted();
      await importer.add(table, rows);
    }
    counts = importer.counts;
    assertComplete(path, { expected, counts });
  });
  return counts;
}

/**
 * Puts everything of one store into another, as {@link importArchive} does with an archive.
 *
 * @throws {ArchiveError} `import_conflict`
 */
export async function copyStore(
  from: ArchiveDatabase,
  to: ArchiveDatabase,
  { signal, ...options }: { signal?: AbortSignal } & ImportOptions,
): Promise<ImportCounts> {
  let counts: ImportCounts = {};
  await to.write(async (db) => {
    const importer = new Importer(db, options);
    await from.snapshot(async (source) => {
      for (const table of archiveTables) {
        for await (const rows of readTable(source, table)) {
          signal?.throwIfAborted();
          await importer.add(table, rows);
        }
      }
    });
    counts = importer.counts;
  });
  return counts;
}

/** Between the look at the whole and the reading, somebody may have changed the file. */
function assertComplete(path: string, { expected, counts }: { expected: RowCounts; counts: ImportCounts }): void {
  for (const { name } of archiveTables) {
    const { added, present, kept } = counts[name] ?? { added: 0, present: 0, kept: 0 };
    const found = added + present + kept;
    if (found !== (expected[name] ?? 0)) throw damaged(path, `it has ${found} rows of ${name}, not ${expected[name]}`);
  }
}

async function formatAt(path: string): Promise<ArchiveFormat> {
  try {
    for (const format of archiveFormats) if (await format.recognises(path)) return format;
  } catch (error) {
    throw translateFileError(error, path);
  }
  throw new ArchiveError({
    code: 'not_an_archive',
    message: `${path} is neither a file nor a folder.`,
    hint: 'Give what `agl export` wrote.',
  });
}
