import { archiveFormats, exportArchive } from '../store/archive/index.ts';
import { openTables } from '../store/index.ts';
import { atif } from './atif/write.ts';
import type { ExportFormat } from './export-format.ts';
import { trainingFormats } from './training-formats.ts';

/** Everything of a store, to be imported again. */
const archives = archiveFormats.map(
  (format): ExportFormat => ({
    name: format.name,
    summary: format.summary,
    write: async ({ store, path, signal }) => {
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
