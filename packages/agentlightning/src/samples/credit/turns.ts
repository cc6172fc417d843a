import type { Call, Reward } from '../../store/types.ts';
import type { CreditAssigner, CreditTerm } from '../credit.ts';
import { returnsToGo } from '../returns.ts';

/** Which turn of its agent each call is, from 0. */
export function turnsOf(calls: readonly Call[]): number[] {
  const made = new Map<string | null, number>();
  return calls.map(({ agentName }) => {
    const turn = made.get(agentName) ?? 0;
    made.set(agentName, turn + 1);
    return turn;
  });
}

export interface StepReturnOptions {
  /** 0 looks at the call alone, 1 at everything after it alike. */
  discount: number;
  /** Factor of the attempt's reward, which arrives with the last call. */
  outcomeWeight: number;
}

/** Return-to-go of each call: its own rewards and, discounted, those after it. */
export function stepReturns(
  { reward, calls, rewards }: { reward: number; calls: readonly Call[]; rewards: readonly Reward[] },
  { discount, outcomeWeight }: StepReturnOptions,
): number[] {
  const steps = calls.map(({ id }, at) => {
    const own = rewards.filter(({ callId, value }) => callId === id && value !== null);
    const sum = own.reduce((total, { value }) => total + value!, 0);
    return at === calls.length - 1 ? sum + outcomeWeight * reward : sum;
  });
  return returnsToGo(steps, discount);
}

/** What a call is worth, compared with the calls of the same turn in the other rollouts. */
const turnTerm = (value: number, turn: number): CreditTerm[] => [
  { value, key: `turn ${turn}`, weight: 1, members: 'rollouts' },
];

/** Step rewards with return-to-go, each turn with its own baseline, as in MT-GRPO (arXiv 2505.11821). */
export const stepCredit =
  (options: StepReturnOptions): CreditAssigner =>
  (input) => {
    const turns = turnsOf(input.calls);
    return stepReturns(input, options).map((value, at) => turnTerm(value, turns[at]!));
  };

/** R·discount^(calls after this one), as in AReaL (arXiv 2505.24298); each turn with its own baseline. */
export const discountedCredit =
  ({ discount }: { discount: number }): CreditAssigner =>
  ({ reward, calls }) => {
    const turns = turnsOf(calls);
    return calls.map((_, at) => turnTerm(reward * discount ** (calls.length - 1 - at), turns[at]!));
  };
