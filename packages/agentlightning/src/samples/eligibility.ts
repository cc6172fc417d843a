import type { Call, CallChoice } from '../store/types.ts';
import type { DropReason } from './drop-reasons.ts';
import type { Episode, EpisodeAttempt, Grade } from './episodes.ts';

export interface TrainedPolicy {
  policy: string;
  policyVersion: number;
}

/** The first reason, in the order of `dropReasons`, why nothing of a call can be trained on. */
export function callFault(
  call: Call,
  { rollout, attempts }: Episode,
  attempt: EpisodeAttempt,
  grade: Grade,
  trained: TrainedPolicy,
): DropReason | null {
  if (call.policy === null) return 'frozen_model';
  if (call.policy !== trained.policy) return 'other_policy';
  if (rollout.superseded) return 'superseded';
  if (rollout.state === 'cancelled') return 'rollout_cancelled';
  if (rollout.failure?.class === 'infrastructure' || attempt !== attempts.at(-1)) return 'infrastructure_failure';
  if (call.late === true) return 'late';
  if (!('reward' in grade)) return 'no_reward';
  if (call.untrainable) return call.untrainable;
  if (!call.promptIds || call.promptIds.length === 0) return 'missing_token_ids';
  return call.choices.length === 0 ? 'empty_answer' : null;
}

/** A token of less than e^−50 is never sampled; a ratio of more than e^50 would leave float32. */
const lowestLogProb = -50;
/** Softmax in fp32 can end a little above 0. */
const highestLogProb = 1e-3;

/** The first reason, in the same order, why one answer of an otherwise usable call cannot be trained on. */
export function answerFault(
  { sampling }: Call,
  choice: CallChoice,
  { policyVersion }: TrainedPolicy,
): DropReason | null {
  const { tokenIds, logProbs, policyVersions } = choice;
  if (tokenIds.length === 0) return 'empty_answer';
  if (logProbs.length === 0) return 'missing_log_probs';
  if (tokenIds.length !== logProbs.length) return 'length_mismatch';
  if (!logProbs.every((logProb) => logProb >= lowestLogProb && logProb <= highestLogProb)) return 'invalid_log_probs';
  const current = policyVersions.length > 0 && policyVersions.every(({ version }) => version === policyVersion);
  if (!current) return 'other_policy_version';
  return sampling.temperature === 1 ? null : 'other_temperature';
}
