import type { Store } from '../store/store.ts';
import { killStragglers } from './children/stragglers.ts';
import type { Runner } from './runners/runner.ts';

export interface FormerWorkersOptions {
  store: Pick<Store, 'queryWorkers' | 'queryAttempts' | 'leaveWorker'>;
  /** This machine's name; workers of other machines are left to their leases. */
  host: string;
  isAlive: (pid: number) => boolean;
  /** Where agents outlive their controller, what this worker held is taken up again and not given back. */
  runner?: Pick<Runner, 'lasting'>;
  /** This worker. */
  except?: string;
}

/**
 * Ends what controllers left that were killed on this machine: their agents are killed where they can be found, and their
 * attempts are given back at once, rather than when their leases run out. Returns how many controllers there were.
 */
export async function buryFormerWorkers(options: FormerWorkersOptions): Promise<number> {
  const { store, host, isAlive } = options;
  const lasting = options.runner?.lasting;
  let buried = 0;
  let after: string | undefined;
  do {
    const page = await store.queryWorkers({
      states: ['idle', 'busy', 'lost'],
      ...(after === undefined ? {} : { after }),
    });
    for (const { id, info } of page.items) {
      if (info.host !== host || typeof info.pid !== 'number' || isAlive(info.pid)) continue;
      if (lasting !== undefined && id === options.except) continue;
      const attempts = await store.queryAttempts({ workerId: id, states: ['running'], limit: 1000 });
      await Promise.all(attempts.items.map(({ id: attempt }) => killStragglers(attempt)));
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
