import { archiveFormats, exportArchive } from '../store/archive/index.ts';
import { openTables } from '../store/index.ts';

export interface ExportRequest {
  /** A path, or the address of a store. */
  store: string;
  /** Where to: nothing is there yet. */
  path: string;
  signal: AbortSignal;
}

export interface ExportReport {
  /** What was written, by kind: `{ "calls": 120 }`. */
  written: { [kind: string]: number };
  /** What was left out, by reason. */
  leftOut?: { [reason: string]: number };
}

export interface ExportFormat {
  name: string;
  /** A line of `agl export --help`. */
  summary: string;
  /** Leaves nothing at the path when it fails. */
  write(request: ExportRequest): Promise<ExportReport>;
}

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
export const exportFormats: readonly ExportFormat[] = [...archives];
