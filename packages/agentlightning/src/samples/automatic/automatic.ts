import { returnsToGo } from '../returns.ts';
import { type AutomaticRuleName, automaticRules } from './rules.ts';
import type { RuleSettings, Turn } from './turn.ts';

export interface AutomaticSettings {
  /** None: off. */
  rules: readonly (RuleSettings & { rule: AutomaticRuleName })[];
  /** What a call is told of the calls after it: 0 nothing, 1 everything. */
  discount: number;
  /** Steps over which the weights fall to 0, in a line; 0: never. */
  fadeSteps: number;
}

/** What the rules say of one call, before any weight. */
export interface AutomaticValue {
  callId: string;
  rule: AutomaticRuleName;
  value: number;
}

/** Every fault that the rules that are switched on find in an attempt; what is 0 is left out. */
export function automaticValues(turns: readonly Turn[], { rules }: AutomaticSettings): AutomaticValue[] {
  return rules.flatMap(({ rule, ...settings }) =>
    valuesOf(rule, turns, settings).flatMap((value, at) =>
      value === 0 ? [] : [{ callId: turns[at]!.callId, rule, value }],
    ),
  );
}

/**
 * Return of each turn from the rules alone: weighted, added, and discounted over the turns that follow.
 *
 * @param step counted from 1, for the fading
 */
export function automaticReturns(turns: readonly Turn[], settings: AutomaticSettings, step: number): number[] {
  const fade = settings.fadeSteps === 0 ? 1 : Math.max(0, 1 - (step - 1) / settings.fadeSteps);
  const totals = turns.map(() => 0);
  for (const { rule, ...given } of settings.rules) {
    for (const [at, value] of valuesOf(rule, turns, given).entries()) totals[at]! += fade * given.weight * value;
  }
  return returnsToGo(totals, settings.discount);
}

function valuesOf(name: AutomaticRuleName, turns: readonly Turn[], settings: RuleSettings): number[] {
  return automaticRules.find((rule) => rule.name === name)!.values(turns, settings);
}
