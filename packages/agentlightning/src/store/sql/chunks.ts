/** SQL statements take a limited number of parameters; lists are cut into pieces that fit every dialect. */
export function chunksOf<T>(items: readonly T[], size = 500): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}
