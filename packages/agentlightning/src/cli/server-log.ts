import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { destination, pino, stdTimeFunctions } from 'pino';
import type { Log } from '../server/index.ts';

export interface ServerLog {
  log: Log;
  /** Writes what is still in memory. */
  close(): void;
}

/** JSON lines, one a call or refusal, appended to a file; `-` is standard error. Refusals have level 40 (warn), calls 30 (info). */
export function openServerLog(file: string): ServerLog {
  if (file !== '-') mkdirSync(dirname(file), { recursive: true });
  const stream = destination({ dest: file === '-' ? 2 : file, sync: false, mkdir: false });
  const logger = pino({ base: null, timestamp: stdTimeFunctions.isoTime }, stream);
  return {
    log: (entry) => (entry.event === 'refused' ? logger.warn(entry) : logger.info(entry)),
    close: () => {
      stream.flushSync();
      stream.end();
    },
  };
}
