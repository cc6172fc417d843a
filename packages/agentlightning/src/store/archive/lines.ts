import { createReadStream } from 'node:fs';

const newline = 10;

/**
 * Lines of a file, each with the byte that ends it; a last one without it, when the file does not end with a line.
 * Splits at line feeds alone, because JSON text may contain what other readers of lines take for an end.
 */
export async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      parts.push(chunk.subarray(from, end + 1));
      yield parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      parts = [];
      from = end + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
