import type { Call, Reward } from '../store/types.ts';

export interface CreditInput {
  /** The attempt's reward. */
  reward: number;
  /** All calls of the attempt, in order. */
  calls: readonly Call[];
  /** All rewards of the attempt, those of agents and calls included. */
  rewards: readonly Reward[];
}

/** Part of a call's credit that is compared with its like in the other rollouts of the task. */
export interface CreditTerm {
  /** In units of the reward. */
  value: number;
  /** Terms of the same task, agent and key are compared with each other, for instance `turn 2`. */
  key: string;
  /** Factor of the advantage that the comparison gives. */
  weight: number;
  /** What counts once in the comparison: a rollout, with the mean of its terms, or each call. */
  members: 'rollouts' | 'calls';
}

/**
 * Credit of one call. A number is compared with the rewards of the group. Of terms, each is compared with its own like and
 * the weighted advantages are added. No terms: the call has no credit and is not trained on.
 */
export type Credit = number | readonly CreditTerm[];

/** Says which credit each call of an attempt gets, in the order of `calls`. A pure function. */
export type CreditAssigner = (input: CreditInput) => readonly Credit[];

/** The whole reward to every call: what GRPO does with an answer's tokens, done with an attempt's calls. */
export const identicalCredit: CreditAssigner = ({ reward, calls }) => calls.map(() => reward);

/** The whole reward to the last call that a policy answered; the others are not trained on. */
export const lastCallCredit: CreditAssigner = ({ reward, calls }) => {
  const last = calls.findLast(({ policy }) => policy !== null);
  return calls.map((call) => (call === last ? reward : []));
};
