import type { ArchiveFormat } from './format.ts';
import { jsonl } from './jsonl.ts';
import { parquet } from './parquet.ts';

/** In which everything of a store travels; a new one is a file and a line here. */
export const archiveFormats: readonly ArchiveFormat[] = [jsonl, parquet];
