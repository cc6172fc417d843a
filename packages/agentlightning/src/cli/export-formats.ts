import { rm } from 'node:fs/promises';
import { archiveFormats, assertNothingAt, convertArchive, exportArchive } from '../store/archive/index.ts';
import { isServer, openTables, receiveArchive } from '../store/index.ts';
import { atif } from './atif/write.ts';
import type { ExportFormat } from './export-format.ts';
import { trainingFormats } from './training-formats.ts';

/** Everything of a store, to be imported again. */
const archives = archiveFormats.map(
  (format): ExportFormat => ({
    name: format.name,
    summary: format.summary,
    write: async ({ store, path, signal }) => {
      if (isServer(store)) {
        assertNothingAt(path);
        const received = `${path}.received`;
        try {
          await receiveArchive(store, { path: received, signal });
          return { written: await convertArchive(received, { path, format, signal }) };
        } finally {
          await rm(received, { force: true });
        }
      }
      const tables = await openTables(store, 'read');
      try {
        return { written: await exportArchive(tables, { path, format, signal }) };
      } finally {
        await tables.close();
      }
    },
  }),
);

/** What `agl export --format` takes; a new one is a file and a line here. */
export const exportFormats: readonly ExportFormat[] = [...archives, atif, ...trainingFormats];
