import type { LossSpec } from '../contract.ts';
import type { Tape } from '../graph/index.ts';
import type { LossInputs } from './loss-head.ts';

/** Declares what a loss reads of each of `tokens` tokens, [tokens, 1] each, and its bounds. */
export function lossInputs(tape: Tape, purpose: LossSpec['name'], tokens: number): LossInputs {
  const column = (input: string) => tape.input(input, 'float32', [tokens, 1]);
  const weights = column('weights');
  if (purpose !== 'clipped_policy_gradient') return { name: 'cross_entropy', weights };
  return {
    name: purpose,
    weights,
    advantages: column('advantages'),
    behaviourLogProbs: column('behaviourLogProbs'),
    ratioLow: tape.input('ratioLow', 'float32', []),
    ratioHigh: tape.input('ratioHigh', 'float32', []),
  };
}
