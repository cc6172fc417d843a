import { AgentLightningError } from '../errors.ts';
import { bounded, moments } from './moments.ts';

export interface GroupBaseline {
  /** Graded rollouts of the group. */
  count: number;
  mean: number;
  /** Sample standard deviation. */
  std: number;
  /** A group of one, or of equal rewards: it teaches nothing. */
  zeroVariance: boolean;
}

export interface AdvantageOptions {
  /** True: GRPO. False: without the division, as in Dr.GRPO (arXiv 2503.20783, eq. 3). */
  scaleByStd: boolean;
  /** Added to the standard deviation. */
  epsilon?: number;
}

/** Rewards closer together than this, relative to their size, differ by rounding only. */
const equalityTolerance = 1e-12;

/**
 * The baseline of a group: rollouts of one task under one policy version. Give it every graded rollout of the group,
 * before anything is dropped, and no rollout that an infrastructure failure ended: those have no reward.
 *
 * The standard deviation has divisor n − 1, as in TRL and verl; the paper leaves it open.
 *
 * @throws {AgentLightningError} `reward_not_finite`
 */
export function groupBaseline(rewards: readonly number[]): GroupBaseline {
  const wrong = rewards.findIndex((reward) => !Number.isFinite(reward));
  if (wrong >= 0) {
    throw new AgentLightningError({
      code: 'reward_not_finite',
      message: `Reward ${wrong + 1} of ${rewards.length} in a group is ${rewards[wrong]}.`,
      hint: 'Leave rollouts without a usable reward out of the group.',
    });
  }
  const values = rewards.map(bounded);
  const { count, mean, std } = moments(values);
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const size = Math.max(Math.abs(low), Math.abs(high));
  return { count, mean, std, zeroVariance: count < 2 || high - low <= equalityTolerance * size };
}

/**
 * Group-relative advantage of GRPO (arXiv 2402.03300, §4.1.2): A = (R − mean) / (std + ε). Exactly 0 in a group
 * without variance, whose standard deviation is rounding noise.
 *
 * @param credit the return of a rollout or of one of its calls, in units of the reward
 */
export function advantage(
  credit: number,
  { mean, std, zeroVariance }: GroupBaseline,
  { scaleByStd, epsilon = 1e-6 }: AdvantageOptions,
): number {
  if (zeroVariance) return 0;
  const centred = bounded(credit) - mean;
  return scaleByStd ? centred / (std + epsilon) : centred;
}
