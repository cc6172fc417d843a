import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openStore, openTables } from '../../index.ts';
import type { Store } from '../../store.ts';
import { archiveFormats } from '../formats.ts';
import { exportArchive, type ImportCounts, importArchive } from '../index.ts';

export async function exportFrom(location: string, path: string, format = 'jsonl'): Promise<void> {
  const tables = await openTables(location, 'read');
  try {
    await exportArchive(tables, { path, format: archiveFormats.find(({ name }) => name === format)! });
  } finally {
    await tables.close();
  }
}

export async function importInto(
  location: string,
  path: string,
  conflicts: 'refuse' | 'keep' = 'refuse',
): Promise<ImportCounts> {
  const tables = await openTables(location, 'write');
  try {
    return await importArchive(tables, { path, now: 0, conflicts });
  } finally {
    await tables.close();
  }
}

/** Everything of a store in bytes: the same for the same content, wherever it is. */
export async function contentOf(location: string, folder: string, name: string): Promise<string> {
  const path = join(folder, `${name}.jsonl`);
  await exportFrom(location, path);
  return await readFile(path, 'utf8');
}

/** What readers of the store see of its attempts. */
export async function seenIn(location: string): Promise<unknown> {
  const store: Store = await openStore(location);
  try {
    const attempts = (await store.queryAttempts({ limit: 1000 })).items;
    const prompts = await store.latestResources();
    const records = attempts.map(async ({ id }) => [
      await store.listCalls(id),
      await store.listRewards(id),
      await store.listSpans(id),
    ]);
    return { attempts, prompts, records: await Promise.all(records), notes: await store.queryAnnotations({}) };
  } finally {
    await store.close();
  }
}
