import type { NoticeMetrics, ValidationMetrics } from '../../metrics/metrics.ts';

/** When a run ends before its last step; 0 is never. */
export interface StopOptions {
  /** Since the run began, without the time between a kill and its resume. */
  afterSeconds: number;
  /** Prompt and sampled tokens of all its rollouts, validations among them. */
  afterTokens: number;
  /** Validations in a row that bring nothing better. */
  patience: number;
  /** What counts as better: a mean reward higher by more than this. */
  minGain: number;
}

/** What a run has used up. */
export interface Spent {
  seconds: number;
  tokens: number;
}

/** The validation with the highest mean reward, and how many have come since. */
export interface Best {
  step: number;
  reward: number;
  since: number;
}

/** A validation in which nothing was graded says nothing, and counts for nothing. */
export function betterOf(
  best: Best | null,
  { step, reward }: Pick<ValidationMetrics, 'step' | 'reward'>,
  minGain: number,
): Best | null {
  if (reward === null) return best;
  if (best === null || reward.mean > best.reward + minGain) return { step, reward: reward.mean, since: 0 };
  return { ...best, since: best.since + 1 };
}

/** Why a run ends with `step`; null: it goes on. */
export function reasonToStop(
  { afterSeconds, afterTokens, patience }: StopOptions,
  { step, spent, best }: { step: number; spent: Spent; best: Best | null },
): NoticeMetrics | null {
  const notice = { kind: 'notice', step, level: 'info' } as const;
  const over = (limit: number, used: number) => limit > 0 && used >= limit;
  if (over(afterSeconds, spent.seconds)) {
    const message = `The run has used ${Math.round(spent.seconds)} of ${afterSeconds} seconds: it ends with step ${step}.`;
    return { ...notice, code: 'time_spent', message };
  }
  if (over(afterTokens, spent.tokens)) {
    const message = `The run has used ${spent.tokens} of ${afterTokens} tokens: it ends with step ${step}.`;
    return { ...notice, code: 'tokens_spent', message };
  }
  if (best !== null && over(patience, best.since)) {
    const message = `No validation since that of step ${best.step} was better: the run ends with step ${step}.`;
    return { ...notice, code: 'no_gain', message };
  }
  return null;
}
