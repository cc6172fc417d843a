import type { Call } from '../../store/types.ts';
import { turnsOf } from '../credit/turns.ts';
import type { EpisodeAttempt } from '../episodes.ts';
import { Population } from '../population.ts';

/** Return of each call of an attempt from the rules alone, in the order of its calls, in units of the reward. */
export type AutomaticAssigner = (attempt: EpisodeAttempt) => readonly number[];

/**
 * What the rules add to the advantage of each call: its return − the mean of the same turn of the same agent in the other
 * rollouts of the task. Not divided by a standard deviation, so that a small weight stays small, and apart from the true
 * reward, whose baseline it leaves alone. A value that is not a number counts as 0.
 *
 * @param attempts the last one of each graded rollout
 */
export function automaticAdvantages(
  attempts: readonly { groupId: string; attempt: EpisodeAttempt }[],
  automatic: AutomaticAssigner,
): Map<Call, number> {
  const kinds = new Map<string, Population>();
  const entered = attempts.flatMap(({ groupId, attempt }) => {
    const values = automatic(attempt);
    const turns = turnsOf(attempt.calls);
    return attempt.calls.map((call, at) => {
      const given = values[at] ?? 0;
      const value = Number.isFinite(given) ? given : 0;
      const kind = JSON.stringify([call.policy, call.agentName, turns[at]]);
      const population = kinds.get(kind) ?? new Population();
      kinds.set(kind, population);
      population.add(groupId, value);
      return { call, groupId, value, population };
    });
  });
  return new Map(
    entered.map(({ call, groupId, value, population }) => {
      const { mean, zeroVariance } = population.compare(groupId).group;
      return [call, zeroVariance ? 0 : value - mean];
    }),
  );
}
