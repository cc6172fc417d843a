import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgentLightningError } from '../errors.ts';
import type { MetricsSink } from './metrics.ts';

/**
 * One JSON object a line, appended, so that a resumed run continues the file. Written at once: a killed run keeps every line.
 * @throws {AgentLightningError} `metrics_write_failed`, naming the file
 */
export function jsonlSink(path: string): MetricsSink {
  const failed = (cause: unknown) =>
    new AgentLightningError({
      code: (cause as NodeJS.ErrnoException).code === 'ENOSPC' ? 'disk_full' : 'metrics_write_failed',
      message: `Cannot write metrics to ${path}: ${(cause as Error).message}.`,
      hint: 'Free disk space or choose another folder with "store" in agl.config.ts, then `agl resume`.',
      cause,
    });
  let file: number | null = null;
  const open = () => {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, 'a');
  };
  return {
    // Opened with the first event: a run that never began leaves nothing behind.
    write(event) {
      try {
        file ??= open();
        writeSync(file, `${JSON.stringify(event)}\n`);
      } catch (cause) {
        throw failed(cause);
      }
    },
    close: async () => {
      if (file !== null) closeSync(file);
    },
  };
}
