/**
 * Cuts a list into parts whose JSON stays below `maxBytes` (UTF-8), in order. An item that is larger by itself is a part of its own: the
 * server says what is wrong with it.
 */
export function partsBySize<T>(items: readonly T[], maxBytes: number): T[][] {
  const parts: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes + size > maxBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(item);
    bytes += size;
  }
  return parts;
}
