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
  reset(onData?: () => void): void;
}

/** Reads a child's output as fast as it comes, and keeps the end of it. */
export function captureOutput(child: ChildProcess, onData: () => void = () => {}): OutputCapture {
  let heard = onData;
  let log = createLogTail();
  let lastLine = createLastLine();
  child.stdout?.on('data', (chunk: Buffer) => {
    log.append(chunk);
    lastLine.append(chunk);
    heard();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    log.append(chunk);
    heard();
  });
  return {
    read: () => ({ lastLine: lastLine.read(), log: log.text() }),
    reset(next = () => {}) {
      heard = next;
      log = createLogTail();
      lastLine = createLastLine();
    },
  };
}
