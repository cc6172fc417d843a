import { type AdvantageOptions, advantage, type GroupBaseline } from './advantages.ts';
import { bounded } from './moments.ts';

/** What a credit is compared with. Every graded rollout is in it, also those whose calls are dropped later. */
export interface Comparison {
  /** The value that the credit's own rollout or call has in its group. */
  own: number;
  /** The group: same task, agent and kind of credit. */
  group: GroupBaseline;
  /** All groups of that agent and kind in the batch, taken together. */
  batch: GroupBaseline;
  /** The same, after each group's mean was taken away. */
  centred: GroupBaseline;
}

interface Estimator {
  name: string;
  summary: string;
  estimate: (credit: number, comparison: Comparison, options: AdvantageOptions) => number;
}

/** Every estimator of the advantage that a configuration can name. All give exactly 0 where nothing differs. */
export const estimators = [
  {
    name: 'grpo',
    summary: '(R − mean) / (std + ε) of the group (arXiv 2402.03300); without the division if scaleByStd is false',
    estimate: (credit, { group }, options) => advantage(credit, group, options),
  },
  {
    name: 'dr-grpo',
    summary: 'R − mean of the group (arXiv 2503.20783)',
    estimate: (credit, { group }, options) => advantage(credit, group, { ...options, scaleByStd: false }),
  },
  {
    name: 'rloo',
    summary: 'R − mean of the others in the group (arXiv 2402.14740)',
    estimate: (credit, { own, group }) => {
      if (group.zeroVariance) return 0;
      return bounded(credit) - (group.mean * group.count - bounded(own)) / (group.count - 1);
    },
  },
  {
    name: 'reinforce++',
    summary: '(R − mean) / (std + ε) of the batch (arXiv 2501.03262)',
    estimate: (credit, { batch }, options) => advantage(credit, batch, { ...options, scaleByStd: true }),
  },
  {
    name: 'reinforce++-baseline',
    summary: '(R − mean of the group) / (std of that over the batch + ε) (arXiv 2501.03262)',
    estimate: (credit, { group, centred }, options) =>
      group.zeroVariance ? 0 : advantage(bounded(credit) - group.mean, centred, { ...options, scaleByStd: true }),
  },
  {
    name: 'maxrl',
    summary: '(R − mean) / mean of the group, for rewards that are not negative (arXiv 2602.02710)',
    estimate: (credit, { group }) =>
      group.zeroVariance || group.mean <= 0 ? 0 : (bounded(credit) - group.mean) / group.mean,
  },
] as const satisfies readonly Estimator[];

export type EstimatorName = (typeof estimators)[number]['name'];

export function estimate(
  name: EstimatorName,
  credit: number,
  comparison: Comparison,
  options: AdvantageOptions,
): number {
  return estimators.find((estimator) => estimator.name === name)!.estimate(credit, comparison, options);
}
