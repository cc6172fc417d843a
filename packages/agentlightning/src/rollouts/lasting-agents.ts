import type { Store } from '../store/store.ts';
import type { Claim } from '../store/types.ts';
import type { Runner } from './runners/runner.ts';

export interface AdoptableOptions {
  store: Pick<Store, 'queryAttempts' | 'heartbeat' | 'getRollout' | 'getTask'>;
  runner: Pick<Runner, 'lasting'>;
  workerId: string;
  leaseMs: number;
}

/**
 * Attempts that a worker of this name still holds. Their leases are prolonged first: from then on nobody else may take them,
 * and what cannot be prolonged is somebody else's already.
 */
export async function adoptable({ store, runner, workerId, leaseMs }: AdoptableOptions): Promise<Claim[]> {
  if (runner.lasting === undefined) return [];
  const held = await store.queryAttempts({ workerId, states: ['running'], limit: 1000 });
  const claims = await Promise.all(
    held.items.map(async (attempt): Promise<Claim[]> => {
      if (!(await store.heartbeat({ attemptId: attempt.id, workerId }, leaseMs))) return [];
      const rollout = await store.getRollout(attempt.rolloutId);
      const task = rollout && (await store.getTask(rollout.taskId));
      return task ? [{ rollout, attempt, task }] : [];
    }),
  );
  return claims.flat();
}

/** Ends agents whose attempts have ended meanwhile. An attempt that this store does not know may be another store's. */
export async function sweepStrangers(
  store: Pick<Store, 'getAttempt'>,
  { lasting }: Pick<Runner, 'lasting'>,
): Promise<void> {
  for (const attemptId of (await lasting?.strangers()) ?? []) {
    const attempt = await store.getAttempt(attemptId);
    if (attempt !== null && attempt.state !== 'running') await lasting?.release(attemptId);
  }
}
