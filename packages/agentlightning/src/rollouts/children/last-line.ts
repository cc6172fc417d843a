const newline = 0x0a;

/** Follows a stream of text and keeps its last line that is not blank. */
export interface LastLine {
  append(chunk: Buffer): void;
  /** Null when there was no such line. A line over the limit has only its beginning, and says so. */
  read(): { text: string; tooLong: boolean } | null;
}

interface Line {
  parts: Buffer[];
  bytes: number;
  tooLong: boolean;
}

export function createLastLine(maxBytes = 1024 * 1024): LastLine {
  let open: Line = empty();
  let last: Line | null = null;

  function extend(line: Line, part: Buffer): Line {
    const room = maxBytes - line.bytes;
    const kept = part.length > room ? part.subarray(0, room) : part;
    if (kept.length > 0) line.parts.push(Buffer.from(kept)); // a copy: the chunk may be part of something large
    line.bytes += kept.length;
    line.tooLong ||= kept.length < part.length;
    return line;
  }

  return {
    append(chunk) {
      const lines = splitFromEnd(chunk);
      const first = lines.next();
      if (!first.done) {
        // Backwards, so that a flood of lines costs one look at its last one.
        for (const { part, isFirst } of lines) {
          const line = isFirst ? extend(open, part) : extend(empty(), part);
          if (isBlank(line)) continue;
          last = line;
          break;
        }
        if (first.value.isFirst) extend(open, first.value.part);
        else open = extend(empty(), first.value.part);
      }
    },
    read() {
      const line = isBlank(open) ? last : open;
      return line === null ? null : { text: textOf(line).trim(), tooLong: line.tooLong };
    },
  };
}

/** The pieces between newlines, last one first; the first piece of a chunk continues the line before it. */
function* splitFromEnd(chunk: Buffer): Generator<{ part: Buffer; isFirst: boolean }> {
  let end = chunk.length;
  while (true) {
    // A negative offset would count from the end, so 0 is looked at apart.
    const at = end === 0 ? -1 : chunk.lastIndexOf(newline, end - 1);
    yield { part: chunk.subarray(at + 1, end), isFirst: at === -1 };
    if (at === -1) return;
    end = at;
  }
}

function empty(): Line {
  return { parts: [], bytes: 0, tooLong: false };
}

function textOf(line: Line): string {
  return Buffer.concat(line.parts).toString('utf8');
}

function isBlank(line: Line): boolean {
  return line.bytes === 0 || textOf(line).trim() === '';
}
