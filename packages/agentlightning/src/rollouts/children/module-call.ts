import type { ChildProcess } from 'node:child_process';
import { longestTimerMs } from './limits.ts';
import type { CallMessage, ChildMessage, ParentMessage } from './protocol.ts';

export interface ModuleCall extends Omit<CallMessage, 'type'> {
  timeoutMs: number;
  /** Between the abort of the function's signal and SIGKILL. */
  graceMs: number;
  signal: AbortSignal;
  /** Called whenever the child prints something. */
  onOutput?: () => void;
}

export type ModuleEnd =
  | { kind: 'returned'; value: unknown }
  | { kind: 'threw'; message: string }
  /** Something failed where nobody could catch it. */
  | { kind: 'crashed'; message: string }
  | { kind: 'exited'; exitCode: number }
  | { kind: 'signalled'; signal: string }
  /** The child died through code of an earlier call. */
  | { kind: 'lost' }
  | { kind: 'timeout' }
  | { kind: 'aborted' };

/** Sends one call to a loaded child and waits for its end, at most until timeout or abort plus the grace time. */
export function callModule(child: ChildProcess, request: ModuleCall): Promise<ModuleEnd> {
  const { id, argument, environment, timeoutMs, graceMs, signal } = request;
  return new Promise((resolve) => {
    let exitedBy: string | null = null;
    let cut: 'timeout' | 'aborted' | null = null;
    let grace: NodeJS.Timeout | undefined;
    const settle = (end: ModuleEnd) => {
      clearTimeout(timer);
      clearTimeout(grace);
      signal.removeEventListener('abort', onAbort);
      child.off('message', onMessage).off('exit', onExit);
      // An answer that arrives after the time is over changes nothing.
      resolve(cut === null ? end : { kind: cut });
    };
    const stop = (reason: 'timeout' | 'aborted') => {
      if (cut !== null) return;
      cut = reason;
      tell(child, { type: 'abort', id });
      grace = setTimeout(() => settle({ kind: reason }), graceMs);
    };
    const onAbort = () => stop('aborted');
    const onMessage = (message: ChildMessage) => {
      if (message.type === 'exiting') exitedBy = message.id;
      else if ('id' in message && message.id === id) settle(endOf(message));
    };
    const onExit = (exitCode: number | null, killedBy: string | null) => {
      if (exitedBy !== null && exitedBy !== id) settle({ kind: 'lost' });
      else if (exitCode === null) settle({ kind: 'signalled', signal: killedBy ?? 'unknown' });
      else settle({ kind: 'exited', exitCode });
    };
    const timer = setTimeout(() => stop('timeout'), Math.min(timeoutMs, longestTimerMs));
    child.on('message', onMessage).on('exit', onExit);
    signal.addEventListener('abort', onAbort);
    if (!child.connected) settle({ kind: 'lost' });
    else if (signal.aborted) settle({ kind: 'aborted' });
    else tell(child, { type: 'call', id, argument, environment });
  });
}

function endOf(message: Extract<ChildMessage, { type: 'returned' | 'threw' | 'crashed' }>): ModuleEnd {
  if (message.type === 'returned') return { kind: 'returned', value: message.value };
  return { kind: message.type, message: message.message };
}

/** A channel that has just closed means that the child has died, which the exit event tells. */
function tell(child: ChildProcess, message: ParentMessage): void {
  if (child.connected) child.send(message, () => {});
}
