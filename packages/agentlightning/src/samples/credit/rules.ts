import { type CreditAssigner, identicalCredit, lastCallCredit } from '../credit.ts';
import { agentCredit, dimensionCredit } from './named.ts';
import { type StateKind, sameStateCredit } from './same-state.ts';
import { discountedCredit, stepCredit } from './turns.ts';

export interface CreditSettings {
  discount: number;
  outcomeWeight: number;
  stepWeight: number;
  /** Name of a reward → its weight. */
  dimensions: Record<string, number>;
  state: StateKind;
}

interface CreditRule {
  name: string;
  summary: string;
  assigner: (settings: CreditSettings) => CreditAssigner;
}

/** Every credit rule that a configuration can name; a new one is a function and a line here. */
export const creditRules = [
  { name: 'identical', summary: 'the reward to every call', assigner: () => identicalCredit },
  { name: 'discounted', summary: 'the reward, less for earlier calls', assigner: discountedCredit },
  { name: 'steps', summary: 'return-to-go of the calls’ own rewards', assigner: stepCredit },
  { name: 'agents', summary: 'to each agent its own reward', assigner: () => agentCredit },
  { name: 'dimensions', summary: 'named rewards, compared one by one', assigner: dimensionCredit },
  { name: 'last-call', summary: 'the reward to the last call alone', assigner: () => lastCallCredit },
  { name: 'same-state', summary: 'GiGPO: also compares calls in the same state', assigner: sameStateCredit },
] as const satisfies readonly CreditRule[];

export type CreditRuleName = (typeof creditRules)[number]['name'];

export function creditAssigner({ rule, ...settings }: CreditSettings & { rule: CreditRuleName }): CreditAssigner {
  return creditRules.find(({ name }) => name === rule)!.assigner(settings);
}
