import { PartialFile } from '../archive/index.ts';
import { Connection } from './connection.ts';
import { storeKey } from './location.ts';

export const archivePath = '/agl/v1/archive';

/**
 * Fetches everything of the store at an address, as an archive of JSON lines; that it is whole is for its reader to check.
 *
 * @throws {StoreError} `store_unreachable`, `answer_lost`; {@link ArchiveError} `disk_full`
 */
export async function receiveArchive(
  url: string,
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<void> {
  const connection = new Connection({ url, key: storeKey(url) });
  const file = await PartialFile.create(path);
  try {
    for await (const bytes of connection.bytes({ method: 'GET', path: archivePath, signal })) await file.append(bytes);
    await file.finish();
  } catch (error) {
    await file.discard();
    throw error;
  } finally {
    await connection.close();
  }
}
