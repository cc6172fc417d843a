import type { Reward } from '../store/types.ts';

/** Name of the reward that is trained on; agents may report others beside it. */
export const rewardName = 'reward';

/** Design §4: whom a reward is believed, most trusted first. */
const trust: readonly Reward['source'][] = ['grader', 'agent', 'stdout'];

/**
 * The reward that counts for a whole attempt: the last of the most trusted source that spoke at all.
 * A grader that answered `null` has spoken: then there is no reward, whatever the agent claims.
 * @returns null when there is none, which is never the same as 0
 */
export function countedReward(rewards: readonly Reward[]): number | null {
  const candidates = rewards.filter(
    ({ name, callId, agentName }) => name === rewardName && callId === null && agentName === null,
  );
  for (const source of trust) {
    const last = candidates.findLast((reward) => reward.source === source);
    if (last) return last.value;
  }
  return null;
}

/** A reward printed as a whole line, for instance `0.5`; null when the line is anything else. */
export function parseRewardLine(line: string | null): number | null {
  const text = line?.trim() ?? '';
  const value = text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
