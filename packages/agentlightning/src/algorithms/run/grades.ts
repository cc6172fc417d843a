import type { Estimate } from '../../metrics/metrics.ts';
import { type Episode, gradeEpisode, meanInterval, proportionInterval } from '../../samples/index.ts';

/** Reward and success with their intervals; rollouts without a reward are counted by code and in neither. */
export function gradeSummary(
  episodes: readonly Episode[],
  successThreshold: number,
): { reward: Estimate | null; success: Estimate | null; ungraded: Record<string, number> } {
  const rewards: number[] = [];
  const ungraded: Record<string, number> = {};
  for (const episode of episodes) {
    const grade = gradeEpisode(episode);
    if ('reward' in grade) rewards.push(grade.reward);
    else ungraded[grade.ungraded] = (ungraded[grade.ungraded] ?? 0) + 1;
  }
  const successes = rewards.filter((reward) => reward >= successThreshold).length;
  return { reward: meanInterval(rewards), success: proportionInterval(successes, rewards.length), ungraded };
}
