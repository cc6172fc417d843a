import type { UntrainableReason } from '../store/types.ts';

/** Why a call did not reach the optimiser: reason → what it says to a reader. The order is the order of precedence. */
export const dropReasons = {
  frozen_model: 'answered by a model that is not trained',
  other_policy: 'answered by another policy than the one being trained',
  superseded: 'its rollout was replaced when the run was resumed',
  rollout_cancelled: 'its rollout was cancelled',
  infrastructure_failure: 'its attempt was ended by a failure that is not the agent’s',
  late: 'it came after its attempt had been given up or had ended',
  no_reward: 'its rollout has no reward',
  cancelled: 'the client went away before the answer was complete',
  broken_stream: 'the answer broke off',
  upstream_error: 'the model server failed',
  missing_token_ids: 'the model server gave no token ids',
  missing_log_probs: 'the model server gave no log probs',
  length_mismatch: 'token ids and log probs differ in number',
  empty_answer: 'the answer has no token',
  invalid_log_probs: 'a log prob is not a number between −50 and 0',
  other_policy_version: 'sampled, in part at least, by other weights than those of its step',
  other_temperature: 'not sampled at temperature 1, so that its log probs are not those of the policy',
  no_credit: 'the credit rule gives it no reward',
  zero_advantage: 'its reward is its group’s mean, so that it teaches nothing',
  advantage_out_of_range: 'its advantage is beyond ±1e12: check the grader',
  too_long: 'its chain is longer than the engine takes',
} as const satisfies Record<UntrainableReason, string> & Record<string, string>;

export type DropReason = keyof typeof dropReasons;

/** What became of one call. `reason` is null when at least one of its answers is trained on. */
export interface CallOutcome {
  callId: string;
  rolloutId: string;
  reason: DropReason | null;
}

/** Dropped calls by reason, most frequent first. With the trained calls they add up to all calls. */
export function countDropped(outcomes: readonly CallOutcome[]): Partial<Record<DropReason, number>> {
  const counts = new Map<DropReason, number>();
  for (const { reason } of outcomes) if (reason) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]));
}
