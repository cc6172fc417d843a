import type { Call } from '../store/types.ts';
import type { AdvantageOptions } from './advantages.ts';
import { type AutomaticAssigner, automaticAdvantages } from './automatic/advantages.ts';
import { type Credit, type CreditAssigner, type CreditTerm, identicalCredit } from './credit.ts';
import type { Episode, EpisodeAttempt, Grade } from './episodes.ts';
import { type EstimatorName, estimate } from './estimators.ts';
import { bounded } from './moments.ts';
import { Population } from './population.ts';

export interface CallAdvantageOptions extends AdvantageOptions {
  estimator?: EstimatorName;
  credit?: CreditAssigner;
  /** Adds what rules find in an attempt. Only to calls that the credit rule has something for. */
  automatic?: AutomaticAssigner;
}

export interface CallAdvantages {
  /** Rewards of the graded rollouts by group. */
  rewards: Population;
  /** Null: the call has no credit. Calls of ungraded rollouts and of earlier attempts are missing. */
  advantages: Map<Call, number | null>;
}

interface Credited {
  call: Call;
  groupId: string;
  reward: number;
  credit: Credit;
  /** Each term with the value that its member has in the comparison. */
  terms: { term: CreditTerm; population: Population; own: number }[];
}

/**
 * Advantage of every call of every graded rollout, before any is dropped. Credit is compared within the same task and
 * agent; rollouts that are masked take part in no comparison.
 */
export function callAdvantages(
  episodes: readonly Episode[],
  grades: readonly Grade[],
  options: CallAdvantageOptions,
): CallAdvantages {
  const { credit = identicalCredit, estimator = 'grpo' } = options;
  const rewards = new Population();
  const kinds = new Map<string, Population>();
  const credited: Credited[] = [];
  const graded: { groupId: string; attempt: EpisodeAttempt }[] = [];
  for (const [index, { rollout, attempts }] of episodes.entries()) {
    rewards.open(rollout.groupId);
    const grade = grades[index]!;
    if (!('reward' in grade)) continue;
    rewards.add(rollout.groupId, grade.reward);
    const last = attempts.at(-1);
    if (!last) continue;
    graded.push({ groupId: rollout.groupId, attempt: last });
    const given = credit({ reward: grade.reward, calls: last.calls, rewards: last.rewards });
    const calls = last.calls.map((call, at) => creditOf(call, given[at] ?? [], rollout.groupId, grade.reward));
    enter(calls, kinds);
    credited.push(...calls);
  }

  const advantages = new Map<Call, number | null>();
  for (const { call, groupId, reward, credit, terms } of credited) {
    if (typeof credit === 'number') {
      const comparison = { own: reward, ...rewards.compare(groupId) };
      advantages.set(call, estimate(estimator, credit, comparison, options));
    } else if (terms.length === 0) advantages.set(call, null);
    else {
      const parts = terms.map(({ term: { value, weight }, population, own }) => {
        return weight * estimate(estimator, value, { own, ...population.compare(groupId) }, options);
      });
      advantages.set(
        call,
        parts.reduce((sum, part) => sum + part, 0),
      );
    }
  }
  if (options.automatic) addAutomatic(advantages, automaticAdvantages(graded, options.automatic));
  return { rewards, advantages };
}

function addAutomatic(advantages: Map<Call, number | null>, more: ReadonlyMap<Call, number>): void {
  for (const [call, value] of more) {
    const own = advantages.get(call);
    if (typeof own === 'number') advantages.set(call, own + value);
  }
}

/** What is not a number is no credit, and a huge one is cut: one bad value must not stop a run. */
function creditOf(call: Call, given: Credit, groupId: string, reward: number): Credited {
  if (typeof given === 'number') {
    return { call, groupId, reward, credit: Number.isFinite(given) ? given : [], terms: [] };
  }
  const finite = given.filter(({ value }) => Number.isFinite(value));
  const credit = finite.map((term) => ({ ...term, value: bounded(term.value) }));
  return { call, groupId, reward, credit, terms: [] };
}

/** Enters the terms of one rollout into the populations that they are compared in. */
function enter(calls: readonly Credited[], kinds: Map<string, Population>): void {
  const byRollout = new Map<Population, { values: number[]; members: { own: number }[] }>();
  for (const { call, groupId, credit, terms } of calls) {
    if (typeof credit === 'number') continue;
    for (const term of credit) {
      const kind = JSON.stringify([call.policy, call.agentName, term.key, term.members]);
      const population = kinds.get(kind) ?? new Population();
      kinds.set(kind, population);
      const member = { term, population, own: term.value };
      terms.push(member);
      if (term.members === 'calls') population.add(groupId, term.value);
      else {
        const mine = byRollout.get(population) ?? { values: [], members: [] };
        byRollout.set(population, mine);
        mine.values.push(term.value);
        mine.members.push(member);
      }
    }
  }
  for (const [population, { values, members }] of byRollout) {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    population.add(calls[0]!.groupId, mean);
    for (const member of members) member.own = mean;
  }
}
