/** Keeps the last bytes of what is written, in a fixed ring: a flood of output costs time, never memory. */
export interface LogTail {
  append(chunk: Uint8Array): void;
  /** What is kept, with a note of how much was left out before it. */
  text(): string;
}

export function createLogTail(maxBytes = 64 * 1024): LogTail {
  let ring: Buffer | null = null;
  let written = 0;
  return {
    append(chunk) {
      ring ??= Buffer.allocUnsafeSlow(maxBytes);
      const kept = chunk.subarray(Math.max(0, chunk.length - maxBytes));
      const at = (written + chunk.length - kept.length) % maxBytes;
      const untilEnd = Math.min(kept.length, maxBytes - at);
      ring.set(kept.subarray(0, untilEnd), at);
      ring.set(kept.subarray(untilEnd), 0);
      written += chunk.length;
    },
    text() {
      if (ring === null) return '';
      if (written <= maxBytes) return ring.toString('utf8', 0, written);
      const at = written % maxBytes;
      const kept = Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
      return `[${written - maxBytes} bytes before this were left out]\n${kept.toString('utf8', utf8Start(kept))}`;
    },
  };
}

/** Skips the rest of a character that the ring cut in two. */
function utf8Start(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && (bytes[start]! & 0xc0) === 0x80) start++;
  return start;
}
