import type { Reward } from '../../store/types.ts';
import type { CreditAssigner, CreditTerm } from '../credit.ts';

/** The last value of the most trusted source that gave any; null when there is none or it said so. */
function trusted(rewards: readonly Reward[]): number | null {
  for (const source of ['grader', 'agent', 'stdout'] as const) {
    const given = rewards.findLast((reward) => reward.source === source);
    if (given) return given.value;
  }
  return null;
}

/** To each call the reward of its agent. An agent without one has no credit: its calls are not trained on. */
export const agentCredit: CreditAssigner = ({ calls, rewards }) => {
  const own = (agentName: string | null) =>
    trusted(rewards.filter((reward) => reward.callId === null && reward.agentName === agentName));
  return calls.map(({ agentName }): CreditTerm[] => {
    const value = own(agentName);
    return value === null ? [] : [{ value, key: '', weight: 1, members: 'rollouts' }];
  });
};

/**
 * Named rewards of the attempt, each compared in its group before the weighted advantages are added, so that a dimension
 * with a large spread does not drown the others (GDPO, arXiv 2601.05242). One that is missing takes no part.
 */
export const dimensionCredit =
  ({ dimensions }: { dimensions: Readonly<Record<string, number>> }): CreditAssigner =>
  ({ calls, rewards }) => {
    const attempt = rewards.filter(({ agentName, callId }) => agentName === null && callId === null);
    const terms = Object.entries(dimensions).flatMap(([key, weight]): CreditTerm[] => {
      const value = trusted(attempt.filter(({ name }) => name === key));
      return value === null ? [] : [{ value, key, weight, members: 'rollouts' }];
    });
    return calls.map(() => terms);
  };
