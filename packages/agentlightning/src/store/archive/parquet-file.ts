import type { BasicType, ColumnSource } from 'hyparquet-writer';
import { PartialFile } from './partial-file.ts';
import { type ArchiveRow, type ArchiveTable, type Cell, type ColumnKind, isNullable } from './tables.ts';

/** JSON is text: a reader that parsed it would not give back the bytes. */
const types: { [kind: string]: BasicType } = {
  text: 'STRING',
  json: 'STRING',
  integer: 'INT64',
  real: 'DOUBLE',
  bytes: 'BYTE_ARRAY',
};

/** A row group ends when it has as many rows or about as many bytes: what a reader has to hold at once. */
const groupRows = 10_000;
const groupBytes = 16 * 1024 * 1024;

type Library = typeof import('hyparquet-writer');

/** Writes the rows of one table, a group after the other. */
export class ParquetFile {
  readonly #table: ArchiveTable;
  readonly #file: PartialFile;
  readonly #bytes: InstanceType<Library['ByteWriter']>;
  readonly #writer: InstanceType<Library['ParquetWriter']>;
  #rows: ArchiveRow[] = [];
  #pendingBytes = 0;

  private constructor(table: ArchiveTable, file: PartialFile, library: Library) {
    this.#table = table;
    this.#file = file;
    this.#bytes = new library.ByteWriter();
    const schema = library.schemaFromColumnData({ columnData: columnsOf(table, []) });
    this.#writer = new library.ParquetWriter({ writer: this.#bytes, schema, createdBy: 'agentlightning' });
  }

  static async create(path: string, table: ArchiveTable): Promise<ParquetFile> {
    const library = await import('hyparquet-writer');
    return new ParquetFile(table, await PartialFile.create(path), library);
  }

  async write(rows: readonly ArchiveRow[]): Promise<void> {
    for (const row of rows) {
      this.#rows.push(row);
      this.#pendingBytes += sizeOf(row);
    }
    if (this.#rows.length >= groupRows || this.#pendingBytes >= groupBytes) await this.#writeGroup();
  }

  async finish(): Promise<{ bytes: number; sha256: string }> {
    await this.#writeGroup();
    await this.#writer.finish();
    await this.#handOver();
    const { bytes, sha256 } = this.#file;
    await this.#file.finish();
    return { bytes, sha256 };
  }

  discard(): Promise<void> {
    return this.#file.discard();
  }

  async #writeGroup(): Promise<void> {
    if (this.#rows.length === 0) return;
    await this.#writer.write({ columnData: columnsOf(this.#table, this.#rows), rowGroupSize: this.#rows.length });
    this.#rows = [];
    this.#pendingBytes = 0;
    await this.#handOver();
  }

  /** The writer's buffer starts anew; its offset goes on. */
  async #handOver(): Promise<void> {
    await this.#file.append(this.#bytes.getBytes().slice());
    this.#bytes.index = 0;
  }
}

function columnsOf(table: ArchiveTable, rows: readonly ArchiveRow[]): ColumnSource[] {
  return Object.entries(table.columns).map(([name, kind]) => ({
    name,
    data: rows.map((row) => toParquet(row[name]!, kind)),
    type: types[kind.replace('?', '')]!,
    nullable: isNullable(kind),
    statistics: false,
  }));
}

function toParquet(cell: Cell, kind: ColumnKind): Cell | bigint {
  return kind.startsWith('integer') && cell !== null ? BigInt(cell as number) : cell;
}

/** In groups as they were written. @throws {TypeError} when a column is missing */
export async function* readParquetRows(path: string, table: ArchiveTable): AsyncGenerator<ArchiveRow[]> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, utf8: false });
    for (let at = 0; at < rows.length; at += 200) yield rows.slice(at, at + 200).map((row) => fromParquet(table, row));
    rowStart = rowEnd;
  }
}

function fromParquet(table: ArchiveTable, found: Record<string, unknown>): ArchiveRow {
  const row: ArchiveRow = {};
  for (const [column, kind] of Object.entries(table.columns)) {
    const value = found[column];
    if (value === null || value === undefined) {
      if (!isNullable(kind)) throw new TypeError(`it has a row without ${column}`);
      row[column] = null;
    } else {
      row[column] = typeof value === 'bigint' ? Number(value) : (value as Cell);
    }
  }
  return row;
}

function sizeOf(row: ArchiveRow): number {
  let bytes = 0;
  for (const cell of Object.values(row)) bytes += typeof cell === 'number' || cell === null ? 8 : cell.length;
  return bytes;
}
