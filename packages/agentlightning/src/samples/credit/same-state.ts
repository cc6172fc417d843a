import type { Call } from '../../store/types.ts';
import type { CreditAssigner, CreditTerm } from '../credit.ts';
import { type StepReturnOptions, stepReturns } from './turns.ts';

/** What makes two calls stand in the same state: the whole prompt, or the last message alone (the observation). */
export const stateKinds = ['prompt', 'last-message'] as const;

export type StateKind = (typeof stateKinds)[number];

function stateOf({ request, promptIds, id }: Call, kind: StateKind): string {
  const { messages } = request;
  if (kind === 'last-message' && Array.isArray(messages)) return `message ${JSON.stringify(messages.at(-1) ?? null)}`;
  return promptIds ? `prompt ${promptIds.join(' ')}` : `call ${id}`;
}

/**
 * GiGPO (arXiv 2505.10978, eq. 8): A = A_episode + weight · A_step, where A_step compares the discounted returns of all
 * calls that rollouts of the task made in the same state.
 */
export const sameStateCredit =
  (options: StepReturnOptions & { stepWeight: number; state: StateKind }): CreditAssigner =>
  (input) => {
    const returns = stepReturns(input, options);
    return input.calls.map((call, at): CreditTerm[] => [
      { value: input.reward, key: 'episode', weight: 1, members: 'rollouts' },
      { value: returns[at]!, key: stateOf(call, options.state), weight: options.stepWeight, members: 'calls' },
    ]);
  };
