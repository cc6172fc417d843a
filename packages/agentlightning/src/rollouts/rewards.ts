import type { Reward } from '../store/types.ts';

/** Name of the reward that is trained on; agents may report others beside it. */
export const rewardName = 'reward';

/** Design §4: whom a reward is believed, most trusted first. */
const trust: readonly Reward['source'][] = ['grader', 'agent', 'stdout'];

/**
 * The reward that counts for a whole attempt: of the most trusted source that spoke at all, the last one named `reward`, else
 * the last one. A grader that answered `null` has spoken: then there is no reward, whatever the agent claims.
 * What came after the attempt had been given up is kept and never counted.
 * @returns null when there is none, which is never the same as 0
 */
export function countedReward(rewards: readonly Reward[]): number | null {
  const ofAttempt = rewards.filter(
    ({ callId, agentName, late }) => callId === null && agentName === null && late !== true,
  );
  for (const source of trust) {
    const given = ofAttempt.filter((reward) => reward.source === source);
    const counted = given.findLast(({ name }) => name === rewardName) ?? given.at(-1);
    if (counted) return counted.value;
  }
  return null;
}

/** A reward printed as a whole line, for instance `0.5`; null when the line is anything else. */
export function parseRewardLine(line: string | null): number | null {
  const text = line?.trim() ?? '';
  const value = text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
