import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
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
import { rowFromJson, rowToLine } from './json-rows.ts';
import { linesOf } from './lines.ts';
import { PartialFile } from './partial-file.ts';
import { type ArchiveRow, type ArchiveTable, tableNamed } from './tables.ts';

const batchRows = 200;

/** The last line: how many rows of each table came before it, and the SHA-256 of all bytes before it. */
interface EndMark {
  end: true;
  rows: RowCounts;
  sha256: string;
}

/**
 * One file: a line that says what it is, a line for each row, a line that ends it. The same content gives the same bytes.
 */
export const jsonl: ArchiveFormat = {
  name: 'jsonl',
  summary: 'everything, one file of JSON lines',
  recognises: async (path) => (await stat(path)).isFile(),
  create: writeJsonl,
  open: (path) => new JsonlReader(path),
};

async function writeJsonl(path: string): Promise<ArchiveWriter> {
  const file = await PartialFile.create(path);
  await file.append(line({ format: archiveMark, version: archiveVersion }));
  return {
    write: (table, rows) => file.append(Buffer.from(rows.map((row) => `${rowToLine(table, row)}\n`).join(''))),
    finish: async (rows) => {
      await file.append(line({ end: true, rows, sha256: file.sha256 } satisfies EndMark));
      await file.finish();
    },
    discard: () => file.discard(),
  };
}

function line(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

class JsonlReader implements ArchiveReader {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async verify(): Promise<RowCounts> {
    const hash = createHash('sha256');
    let last: Buffer | null = null;
    for await (const next of this.#lines()) {
      if (last === null) this.#assertHeader(next);
      else hash.update(last);
      last = next;
    }
    const mark = last === null ? null : endMarkOf(last);
    if (mark === null) throw cut(this.#path);
    if (mark.sha256 !== hash.digest('hex')) throw damaged(this.#path, 'its checksum is not that of its content');
    return mark.rows;
  }

  async *batches(): AsyncGenerator<{ table: ArchiveTable; rows: ArchiveRow[] }> {
    let number = 0;
    let batch: { table: ArchiveTable; rows: ArchiveRow[] } | null = null;
    for await (const bytes of this.#lines()) {
      number += 1;
      if (number === 1 || endMarkOf(bytes) !== null) continue;
      const { table, row } = this.#parse(bytes, number);
      if (batch && (batch.table !== table || batch.rows.length >= batchRows)) {
        yield batch;
        batch = null;
      }
      batch ??= { table, rows: [] };
      batch.rows.push(row);
    }
    if (batch) yield batch;
  }

  #parse(bytes: Buffer, number: number): { table: ArchiveTable; row: ArchiveRow } {
    try {
      const json = JSON.parse(bytes.toString()) as Record<string, unknown>;
      const table = tableNamed(String(json.table));
      if (!table) throw new TypeError(`it is of table ${JSON.stringify(json.table)}, which this program does not know`);
      return { table, row: rowFromJson(table, json) };
    } catch (error) {
      throw damaged(this.#path, `line ${number} cannot be read: ${(error as Error).message}`, error);
    }
  }

  #assertHeader(bytes: Buffer): void {
    const header = parsed(bytes);
    if (header?.format !== archiveMark) {
      throw new ArchiveError({
        code: 'not_an_archive',
        message: `${this.#path} is no archive of a store: its first line does not say so.`,
        hint: 'Give a file that `agl export --format jsonl` wrote.',
      });
    }
    assertVersion(this.#path, header.version);
  }

  async *#lines(): AsyncGenerator<Buffer> {
    try {
      yield* linesOf(this.#path);
    } catch (error) {
      throw translateFileError(error, this.#path);
    }
  }
}

/** Of the last line, when the file was written to its end. */
function endMarkOf(bytes: Buffer): EndMark | null {
  if (!bytes.subarray(0, 12).toString().startsWith('{"end":true,') || bytes.at(-1) !== 10) return null;
  return parsed(bytes) as EndMark | null;
}

function parsed(bytes: Buffer): Record<string, unknown> | null {
  try {
    return JSON.parse(bytes.toString()) as Record<string, unknown>;
  } catch {
    return null;
  }
}
