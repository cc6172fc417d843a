import { TaskFileError } from './errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The non-blank lines of a UTF-8 file, numbered from 1. A byte order mark at the start is accepted.
 * Decoded line by line, so that a wrong byte can be named by its line.
 */
export function decodeLines(bytes: Buffer, file: string): { number: number; text: string }[] {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw notUtf8(file, 1, 'it begins like UTF-16');
  }
  const lines: { number: number; text: string }[] = [];
  let start = 0;
  for (let number = 1; start < bytes.length; number++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    const text = decode(bytes.subarray(start, end), file, number).trim();
    if (text !== '') lines.push({ number, text });
    start = end + 1;
  }
  return lines;
}

function decode(bytes: Uint8Array, file: string, number: number): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw notUtf8(file, number, 'it has bytes that UTF-8 does not allow');
  }
}

function notUtf8(file: string, number: number, reason: string): TaskFileError {
  return new TaskFileError({
    code: 'task_file_not_utf8',
    message: `${file}:${number} is not UTF-8: ${reason}.`,
    hint: 'Save the file as UTF-8.',
  });
}
