import type { TrainingSelection } from './training-export/write.ts';

export interface ExportRequest {
  /** A path, or the address of a store. */
  store: string;
  /** Where to: nothing is there yet. */
  path: string;
  signal: AbortSignal;
  /** For training data: which calls. */
  selection: TrainingSelection;
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
