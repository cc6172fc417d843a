import type { Call, Reward } from '../store/types.ts';

export interface CreditInput {
  /** The attempt's reward. */
  reward: number;
  /** All calls of the attempt, in order. */
  calls: readonly Call[];
  /** All rewards of the attempt, those of agents and calls included. */
  rewards: readonly Reward[];
}

/**
 * Says which return each call of an attempt gets: one number a call, in the order of `calls`, in units of the reward.
 * A pure function. Its result is compared with the baseline of the group, so a call that did what the attempt did on
 * the whole gets the attempt's reward.
 */
export type CreditAssigner = (input: CreditInput) => readonly number[];

/** The whole reward to every call: what GRPO does with an answer's tokens, done with an attempt's calls. */
export const identicalCredit: CreditAssigner = ({ reward, calls }) => calls.map(() => reward);
