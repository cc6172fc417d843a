import { PartialFile } from '../../store/archive/index.ts';

/** Takes rows and writes them. Nothing stands under the file's name before `finish`, and nothing is left after `discard`. */
export interface RowWriter {
  write(rows: readonly object[]): Promise<void>;
  finish(): Promise<void>;
  discard(): Promise<void>;
}

/** One JSON object a line. */
export async function jsonLinesWriter(path: string): Promise<RowWriter> {
  const file = await PartialFile.create(path);
  return {
    write: (rows) => file.append(Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))),
    finish: () => file.finish(),
    discard: () => file.discard(),
  };
}
