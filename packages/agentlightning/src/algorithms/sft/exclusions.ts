import { dropReasons } from '../../samples/index.ts';

/**
 * Why a call is not learned from by imitation: reason → what it says to a reader. The order is that of precedence. Log
 * probs, policy versions and temperatures do not matter here, so their reasons are missing.
 */
export const exclusionReasons = {
  superseded: dropReasons.superseded,
  rollout_cancelled: dropReasons.rollout_cancelled,
  infrastructure_failure: dropReasons.infrastructure_failure,
  late: dropReasons.late,
  validation_task: 'its task is one of those that the run is validated on',
  no_reward: dropReasons.no_reward,
  low_reward: 'the reward of its rollout is below minReward',
  not_best: 'other rollouts of its group have better rewards (bestPerGroup)',
  other_agent: 'made by an agent that is not asked for (agents)',
  other_model: 'answered by a model that is not learned from (models)',
  cancelled: dropReasons.cancelled,
  broken_stream: dropReasons.broken_stream,
  upstream_error: dropReasons.upstream_error,
  length_mismatch: dropReasons.length_mismatch,
  empty_answer: dropReasons.empty_answer,
  cut_off: 'the answer was cut off by its length limit, so that it would teach to end anywhere',
  no_token_ids: 'it has no token ids of the trained model, and nothing to render its text with',
  template_failed: 'the chat template cannot render it',
  template_changes_answer: 'the chat template writes its answer with other text, or not behind the prompt',
  end_in_answer: 'its answer spells the token that ends a turn',
  unreadable: 'its messages cannot be read',
  too_long: dropReasons.too_long,
  duplicate: 'the same tokens are learned from another call',
  no_preference: 'no rollout with the same prompt has a reward that differs by minMargin',
  several_turns: 'the format takes one answer a row, and it stands in a longer conversation',
} as const satisfies Record<string, string>;

export type ExclusionReason = keyof typeof exclusionReasons;

/** What became of one call. `reason` is null when it is learned from. */
export interface CallVerdict {
  callId: string;
  rolloutId: string;
  reason: ExclusionReason | null;
}

/** Excluded calls by reason, most frequent first. With the calls that are learned from they add up to all calls. */
export function countExcluded(verdicts: readonly CallVerdict[]): Partial<Record<ExclusionReason, number>> {
  const counts = new Map<ExclusionReason, number>();
  for (const { reason } of verdicts) if (reason) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]));
}
