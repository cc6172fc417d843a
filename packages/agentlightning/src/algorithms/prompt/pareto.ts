import { type Member, meanScore } from './candidate.ts';

/** For each task the ids of the members that nobody beats there. */
export function taskFronts(members: readonly Member[]): Map<string, Set<string>> {
  const fronts = new Map<string, { best: number; ids: Set<string> }>();
  for (const { candidate, scores } of members) {
    for (const [task, score] of Object.entries(scores)) {
      if (score === null) continue;
      const front = fronts.get(task);
      if (front === undefined || score > front.best) fronts.set(task, { best: score, ids: new Set([candidate.id]) });
      else if (score === front.best) front.ids.add(candidate.id);
    }
  }
  return new Map([...fronts].map(([task, { ids }]) => [task, ids]));
}

/**
 * Members to go on from, each with the number of tasks on which nobody beats it: what is best at something survives,
 * whatever its mean. Those whose every such task is also covered by others are left out, the worst means first
 * (GEPA, arXiv 2507.19457, algorithm 2).
 */
export function frontWeights(members: readonly Member[]): Map<string, number> {
  const fronts = taskFronts(members);
  const kept = new Set([...fronts.values()].flatMap((ids) => [...ids]));
  const worstFirst = members
    .filter(({ candidate }) => kept.has(candidate.id))
    .sort((a, b) => (meanScore(a.scores) ?? 0) - (meanScore(b.scores) ?? 0));
  for (const { candidate } of worstFirst) {
    const own = [...fronts.values()].filter((ids) => ids.has(candidate.id));
    const covered = own.every((ids) => [...ids].some((id) => id !== candidate.id && kept.has(id)));
    if (covered && kept.size > 1) kept.delete(candidate.id);
  }
  const weights = new Map<string, number>();
  for (const { candidate } of members) {
    if (!kept.has(candidate.id)) continue;
    weights.set(candidate.id, [...fronts.values()].filter((ids) => ids.has(candidate.id)).length);
  }
  return weights;
}

/**
 * One of the keys, in proportion to its weight.
 * @param draw from 0 to below 1
 */
export function pickWeighted<Key>(weights: ReadonlyMap<Key, number>, draw: number): Key | null {
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  let left = draw * total;
  let last: Key | null = null;
  for (const [key, weight] of weights) {
    if (weight <= 0) continue;
    last = key;
    left -= weight;
    if (left < 0) return key;
  }
  return last;
}
