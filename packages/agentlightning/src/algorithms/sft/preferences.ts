import type { TrainedConversation } from './conversations.ts';
import type { Example } from './examples.ts';
import type { CallVerdict } from './exclusions.ts';

export interface PairOptions {
  /** Best with worst, second best with second worst, …: at most so many pairs of each group, agent and prompt. */
  pairsPerGroup: number;
  /** Least difference of the rewards of a pair; more than 0. */
  minMargin: number;
}

export interface Pair<Row> {
  chosen: Row;
  rejected: Row;
}

type Comparable = Pick<Example, 'groupId' | 'agentName' | 'reward' | 'callIds'>;

/**
 * Preference pairs: of each group the rows with the best and the worst reward that answer the same prompt. Rows of equal
 * rewards prefer nothing, and a row stands in one pair at most.
 *
 * @param promptOf a text that is equal for equal prompts
 */
export function pairRows<Row extends Comparable>(
  rows: readonly Row[],
  { pairsPerGroup, minMargin }: PairOptions,
  promptOf: (row: Row) => string,
): Pair<Row>[] {
  const rivals = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.groupId, row.agentName, promptOf(row)]);
    rivals.set(key, [...(rivals.get(key) ?? []), row]);
  }
  return [...rivals.values()].flatMap((group) => {
    const ranked = group.sort((a, b) => b.reward - a.reward);
    const pairs = ranked
      .slice(0, Math.min(pairsPerGroup, Math.floor(ranked.length / 2)))
      .map((chosen, at) => ({ chosen, rejected: ranked[ranked.length - 1 - at]! }));
    return pairs.filter(({ chosen, rejected }) => chosen.reward - rejected.reward >= minMargin);
  });
}

/** The tokens before the first answer. */
export const promptOfExample = ({ tokenIds, mask }: Example): string => tokenIds.subarray(0, mask.indexOf(1)).join();

/** The messages before the first answer. */
export const promptOfConversation = ({ messages, tools, trained }: TrainedConversation): string =>
  JSON.stringify([messages.slice(0, trained[0]), tools]);

/** Calls of rows that stand in no pair get the reason `no_preference`. */
export function pairVerdicts(verdicts: readonly CallVerdict[], pairs: readonly Pair<Comparable>[]): CallVerdict[] {
  const used = new Set(pairs.flatMap(({ chosen, rejected }) => [...chosen.callIds, ...rejected.callIds]));
  return verdicts.map((verdict) =>
    verdict.reason !== null || used.has(verdict.callId) ? verdict : { ...verdict, reason: 'no_preference' },
  );
}
