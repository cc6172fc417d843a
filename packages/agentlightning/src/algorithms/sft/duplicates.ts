import { createHash } from 'node:crypto';

/**
 * Adds the key of a row, 32 bytes however long the row is.
 * @returns false when an equal row is there already
 */
export function addKey(seen: Set<string>, ...parts: readonly (string | Int32Array | Uint8Array)[]): boolean {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  const key = hash.digest('base64');
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}
