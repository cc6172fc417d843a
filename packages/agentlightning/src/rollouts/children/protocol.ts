/** What a warm child and its parent say to each other, over Node's IPC channel with structured clone (so that NaN stays NaN). */
export interface LoadMessage {
  type: 'load';
  module: string;
  exportName: string;
  /** `text`: a string as it is, else JSON. `value`: as it is. */
  result: 'text' | 'value';
}

export interface CallMessage {
  type: 'call';
  id: string;
  argument: unknown;
  /** Set for the time of the call alone. */
  environment: Readonly<Record<string, string>>;
}

export type ParentMessage = LoadMessage | CallMessage | { type: 'abort'; id: string };

export type ChildMessage =
  | { type: 'ready' }
  | { type: 'refused'; code: 'module_failed' | 'export_missing'; message: string }
  | { type: 'returned'; id: string; value: unknown }
  | { type: 'threw'; id: string; message: string }
  /** Something of the running call failed where nobody could catch it; the child is about to exit. */
  | { type: 'crashed'; id: string; message: string }
  /** The same, but of an earlier call: the running one goes on, and the child should not be used again. */
  | { type: 'leaked'; message: string }
  /** `process.exit` was called by code of this call. */
  | { type: 'exiting'; id: string };
