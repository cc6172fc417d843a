import { AgentLightningError } from '../../errors.ts';
import type { NoticeMetrics } from '../../metrics/metrics.ts';
import { countDropped, type DropReason, dropReasons, type SampleSet } from '../../samples/index.ts';

/** So many steps in a row without anything to train on end a run: it would only burn time. */
const skipLimit = 20;

export interface SkippedStep {
  step: number;
  samples: SampleSet;
  /** With this one. */
  skippedInRow: number;
  /** Every graded rollout reached the success threshold. */
  solved: boolean;
}

/**
 * What a step without trainable rows says of itself, and whether the run ends with it: when all tasks are solved.
 * @throws {AgentLightningError} `nothing_to_train` at the limit when they are not
 */
export function skipStep({ step, samples, skippedInRow, solved }: SkippedStep): {
  notice: NoticeMetrics;
  end: boolean;
} {
  const notice = { kind: 'notice', step, level: 'warning' } as const;
  const graded = samples.groups.filter(({ count }) => count > 0);
  const noVariance = graded.length > 0 && graded.every(({ zeroVariance }) => zeroVariance);
  const limit = skippedInRow >= skipLimit;
  const why = noVariance
    ? `in each of ${graded.length} groups all rewards are equal, so there is nothing to prefer`
    : `no call can be trained on (${reasons(samples)})`;
  if (limit && noVariance && solved) {
    const message = `All rollouts succeed and ${skippedInRow} steps in a row had nothing left to learn: training ends here.`;
    return { notice: { ...notice, level: 'info', code: 'tasks_solved', message }, end: true };
  }
  if (!limit) {
    const code = noVariance ? 'no_variance' : 'no_trainable_rows';
    return { notice: { ...notice, code, message: `Step ${step} is skipped: ${why}.` }, end: false };
  }
  throw new AgentLightningError({
    code: 'nothing_to_train',
    message: `Steps ${step - skippedInRow + 1} to ${step} had nothing to train on. In the last one, ${why}.`,
    hint: noVariance
      ? 'Choose tasks that the policy solves sometimes, a larger groupSize, or a grader with more than two values.'
      : 'Mend the most frequent reason, then go on with `agl resume`.',
  });
}

function reasons({ outcomes }: SampleSet): string {
  if (outcomes.length === 0) return 'there are none';
  return Object.entries(countDropped(outcomes))
    .map(([reason, count]) => `${count} × ${reason}: ${dropReasons[reason as DropReason]}`)
    .join('; ');
}
