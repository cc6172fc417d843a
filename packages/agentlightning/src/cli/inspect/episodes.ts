import type { Episode } from '../../samples/index.ts';
import type { Store } from '../../store/store.ts';
import type { Rollout } from '../../store/types.ts';
import { nameCalls } from '../../tracing/index.ts';

/** A rollout with all that its attempts left. */
export async function readEpisode(store: Store, rollout: Rollout): Promise<Episode> {
  const attempts = await store.listAttempts(rollout.id);
  return {
    rollout,
    attempts: await Promise.all(
      attempts.map(async (attempt) => {
        const [spans, calls, rewards] = await Promise.all([
          store.listSpans(attempt.id),
          store.listCalls(attempt.id),
          store.listRewards(attempt.id),
        ]);
        // A late reward is kept and never counted.
        const counted = rewards.filter(({ late }) => late !== true);
        return { attempt, spans, calls: nameCalls(calls, spans), rewards: counted };
      }),
    ),
  };
}
