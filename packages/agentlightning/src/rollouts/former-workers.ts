import type { Store } from '../store/store.ts';
import { killStragglers } from './children/stragglers.ts';

export interface FormerWorkersOptions {
  store: Pick<Store, 'queryWorkers' | 'queryAttempts' | 'leaveWorker'>;
  /** This machine's name; workers of other machines are left to their leases. */
  host: string;
  isAlive: (pid: number) => boolean;
}

/**
 * Ends what controllers left that were killed on this machine: their agents are killed where they can be found, and their
 * attempts are given back at once, rather than when their leases run out. Returns how many controllers there were.
 */
export async function buryFormerWorkers({ store, host, isAlive }: FormerWorkersOptions): Promise<number> {
  let buried = 0;
  let after: string | undefined;
  do {
    const page = await store.queryWorkers({
      states: ['idle', 'busy', 'lost'],
      ...(after === undefined ? {} : { after }),
    });
    for (const { id, info } of page.items) {
      if (info.host !== host || typeof info.pid !== 'number' || isAlive(info.pid)) continue;
      const attempts = await store.queryAttempts({ workerId: id, states: ['running'], limit: 1000 });
      await Promise.all(attempts.items.map((attempt) => killStragglers(attempt.id)));
      await store.leaveWorker(id);
      buried += 1;
    }
    after = page.next ?? undefined;
  } while (after !== undefined);
  return buried;
}

/** True also for a process of another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
