import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes that a folder takes on the disk, links not followed. What vanishes meanwhile counts nothing. */
export async function diskUsage(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await diskUsage(path);
    // `blocks` counts 512 bytes each, so a file with holes counts what it takes. Windows has none.
    else
      bytes += await lstat(path).then(
        ({ blocks, size }) => (blocks > 0 ? blocks * 512 : size),
        () => 0,
      );
  }
  return bytes;
}
