import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** How long an escaped process may hold our end of the pipes open after everything of ours has ended. */
const drainMs = 1000;

/** Call it when the child starts; what it returns waits, after the exit, until all output has been read. */
export function drainer(child: ChildProcess): () => Promise<void> {
  // An 'error' means that there was no process, and then there is no output.
  const closed = once(child, 'close').then(
    () => {},
    () => {},
  );
  return async () => {
    const timer = setTimeout(() => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, drainMs);
    await closed;
    clearTimeout(timer);
  };
}
