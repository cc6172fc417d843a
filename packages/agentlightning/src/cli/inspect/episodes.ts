import type { Episode } from '../../samples/index.ts';
import type { Store } from '../../store/store.ts';
import type { Rollout } from '../../store/types.ts';
import { listNamedCalls } from '../../tracing/index.ts';

/** A rollout with all that its attempts left. */
export async function readEpisode(store: Store, rollout: Rollout): Promise<Episode> {
  const attempts = await store.listAttempts(rollout.id);
  return {
    rollout,
    attempts: await Promise.all(
      attempts.map(async (attempt) => ({
        attempt,
        calls: await listNamedCalls(store, attempt.id),
        // A late one is kept and never counted.
        rewards: (await store.listRewards(attempt.id)).filter(({ late }) => late !== true),
      })),
    ),
  };
}
