import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ArchiveError, translateFileError } from './errors.ts';
import {
  type ArchiveFormat,
  type ArchiveReader,
  type ArchiveWriter,
  archiveMark,
  archiveVersion,
  assertVersion,
  cut,
  damaged,
  type RowCounts,
} from './format.ts';
import { ParquetFile, readParquetRows } from './parquet-file.ts';
import { PartialFile } from './partial-file.ts';
import { type ArchiveRow, type ArchiveTable, archiveTables, type TableName } from './tables.ts';

const manifestName = 'manifest.json';

/** Written last: an archive without it is not whole. */
interface Manifest {
  format: typeof archiveMark;
  version: number;
  rows: RowCounts;
  files: { [name: string]: { bytes: number; sha256: string } };
}

/** A folder with a Parquet file for each table that has rows, for pandas, DuckDB and others, and a manifest with checksums. */
export const parquet: ArchiveFormat = {
  name: 'parquet',
  summary: 'everything, a folder with a Parquet file for each table',
  recognises: async (path) => (await stat(path)).isDirectory(),
  create: writeParquet,
  open: (path) => new ParquetReader(path),
};

async function writeParquet(path: string): Promise<ArchiveWriter> {
  const partial = `${path}.partial`;
  try {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial);
  } catch (error) {
    throw translateFileError(error, path);
  }
  const files: Manifest['files'] = {};
  let open: { table: ArchiveTable; file: ParquetFile } | null = null;
  const close = async (): Promise<void> => {
    if (open === null) return;
    files[fileName(open.table.name)] = await open.file.finish();
    open = null;
  };
  return {
    write: async (table, rows) => {
      if (open?.table !== table) {
        await close();
        open = { table, file: await ParquetFile.create(join(partial, fileName(table.name)), table) };
      }
      await open.file.write(rows);
    },
    finish: async (rows) => {
      await close();
      const manifest = await PartialFile.create(join(partial, manifestName));
      const content: Manifest = { format: archiveMark, version: archiveVersion, rows, files };
      await manifest.append(Buffer.from(`${JSON.stringify(content, null, 2)}\n`));
      await manifest.finish();
      try {
        await rename(partial, path);
      } catch (error) {
        throw translateFileError(error, path);
      }
    },
    discard: async () => {
      await open?.file.discard();
      await rm(partial, { recursive: true, force: true });
    },
  };
}

class ParquetReader implements ArchiveReader {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async verify(): Promise<RowCounts> {
    const { files, rows } = await this.#manifest();
    for (const [name, { bytes, sha256 }] of Object.entries(files)) {
      const path = join(this.#path, basename(name));
      const found = await stat(path).catch(() => null);
      if (found === null || found.size < bytes) throw cut(path);
      if ((await hashOf(path)) !== sha256) throw damaged(path, 'its checksum is not that of its content');
    }
    return rows;
  }

  async *batches(): AsyncGenerator<{ table: ArchiveTable; rows: ArchiveRow[] }> {
    const { files } = await this.#manifest();
    for (const table of archiveTables) {
      const name = fileName(table.name);
      if (!(name in files)) continue;
      const path = join(this.#path, name);
      try {
        for await (const rows of readParquetRows(path, table)) yield { table, rows };
      } catch (error) {
        throw error instanceof TypeError || error instanceof RangeError ? damaged(path, error.message, error) : error;
      }
    }
  }

  async #manifest(): Promise<Manifest> {
    let text: string;
    try {
      text = await readFile(join(this.#path, manifestName), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw cut(this.#path);
      throw translateFileError(error, this.#path);
    }
    const manifest = manifestOf(text);
    if (manifest === null) {
      throw new ArchiveError({
        code: 'not_an_archive',
        message: `${this.#path} is no archive of a store: its ${manifestName} does not say so.`,
        hint: 'Give a folder that `agl export --format parquet` wrote.',
      });
    }
    assertVersion(this.#path, manifest.version);
    return manifest;
  }
}

function manifestOf(text: string): Manifest | null {
  try {
    const manifest = JSON.parse(text) as Manifest;
    return manifest.format === archiveMark && typeof manifest.files === 'object' ? manifest : null;
  } catch {
    return null;
  }
}

function fileName(table: TableName): string {
  return `${table}.parquet`;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest('hex');
}
