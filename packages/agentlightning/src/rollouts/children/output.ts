import type { ChildProcess } from 'node:child_process';
import { createLastLine } from './last-line.ts';
import { createLogTail } from './log-tail.ts';

export interface Output {
  /** Last non-blank line of standard output. */
  lastLine: { text: string; tooLong: boolean } | null;
  /** End of standard output and standard error together. */
  log: string;
}

export interface OutputCapture {
  read(): Output;
  /** Forgets what came so far: the next attempt begins. */
  reset(): void;
}

/** Reads a child's output as fast as it comes, and keeps the end of it. */
export function captureOutput(child: ChildProcess): OutputCapture {
  let log = createLogTail();
  let lastLine = createLastLine();
  child.stdout?.on('data', (chunk: Buffer) => {
    log.append(chunk);
    lastLine.append(chunk);
  });
  child.stderr?.on('data', (chunk: Buffer) => log.append(chunk));
  return {
    read: () => ({ lastLine: lastLine.read(), log: log.text() }),
    reset() {
      log = createLogTail();
      lastLine = createLastLine();
    },
  };
}
