import type { Episode } from '../../samples/index.ts';
import type { Store } from '../../store/store.ts';
import type { Rollout, RolloutRequest } from '../../store/types.ts';
import { nameCalls } from '../../tracing/index.ts';
import type { RunInput } from './run.ts';

/** Waits for rollouts to end and reads back what they left, in the order of the ids. */
export async function waitForEpisodes(
  { store, signal, progress }: Pick<RunInput, 'store' | 'signal' | 'progress'>,
  ids: readonly string[],
): Promise<Episode[]> {
  let ended = 0;
  const onEnded = ({ step, mode }: Rollout) => progress?.({ step, mode, ended: ++ended, total: ids.length });
  const rollouts = await store.waitForRollouts([...ids], { signal, onEnded });
  return Promise.all(rollouts.map((rollout) => readEpisode(store, rollout)));
}

/**
 * Enqueues, and returns the ids of the rollouts that count. A rollout that a resume has superseded, or that was cancelled when an earlier process was stopped, is never counted:
 * it is asked for anew under its id with `:r1`, `:r2`, … behind. That follows from the store alone, so any number of
 * kills and resumes agree on the ids.
 */
export async function enqueueCounted(store: Store, requests: readonly RolloutRequest[]): Promise<string[]> {
  const counted = new Map<RolloutRequest, string>();
  for (let repeat = 0; counted.size < requests.length; repeat += 1) {
    const open = requests.filter((request) => !counted.has(request));
    const named = open.map((request) => (repeat === 0 ? request : { ...request, id: `${request.id}:r${repeat}` }));
    const rollouts = await store.enqueueRollouts(named);
    for (const [at, { id, superseded, state }] of rollouts.entries()) {
      if (!superseded && state !== 'cancelled') counted.set(open[at]!, id);
    }
  }
  return requests.map((request) => counted.get(request)!);
}

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
