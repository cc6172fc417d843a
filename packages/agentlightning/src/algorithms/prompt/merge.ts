import { type Candidate, createCandidate, type Member, meanScore } from './candidate.ts';

/** Two members and an ancestor of both. */
export interface Triple {
  first: Member;
  second: Member;
  ancestor: Member;
}

/**
 * The pairs that complement each other (GEPA, arXiv 2507.19457, algorithm 4): neither descends from the other, no common
 * ancestor is better than either, and some prompt was changed by one of them alone, so that the merge has what both found.
 *
 * @param members all that were ever added, in order
 * @param front ids of those that may be merged
 */
export function mergeableTriples(members: readonly Member[], front: ReadonlySet<string>): Triple[] {
  const byId = new Map(members.map((member) => [member.candidate.id, member]));
  const chosen = members.filter(({ candidate }) => front.has(candidate.id));
  return chosen.flatMap((first, index) =>
    chosen.slice(index + 1).flatMap((second) => {
      const ofFirst = ancestorsOf(first.candidate, byId);
      const ofSecond = ancestorsOf(second.candidate, byId);
      if (ofFirst.has(second.candidate.id) || ofSecond.has(first.candidate.id)) return [];
      return [...ofFirst]
        .filter((id) => ofSecond.has(id))
        .map((id) => ({ first, second, ancestor: byId.get(id)! }))
        .filter(complement);
    }),
  );
}

/** Each prompt as the one has it who changed it; where both did, as the better one has it (the first of equals). */
export function mergeOf({ first, second, ancestor }: Triple): Candidate {
  const better = rank(second) > rank(first) ? second : first;
  const texts = Object.fromEntries(
    Object.entries(ancestor.candidate.texts).map(([name, before]) => {
      const [a, b] = [first.candidate.texts[name]!, second.candidate.texts[name]!];
      if (a === before) return [name, b];
      return [name, b === before ? a : better.candidate.texts[name]!];
    }),
  );
  return createCandidate({
    texts,
    parents: [first.candidate.id, second.candidate.id],
    origin: { kind: 'merge', ancestor: ancestor.candidate.id },
  });
}

/** Ids of everything that a candidate descends from, as far as it is known. */
export function ancestorsOf(candidate: Candidate, members: ReadonlyMap<string, Member>): Set<string> {
  const found = new Set<string>();
  const open = [...candidate.parents];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const member = members.get(id);
    if (member === undefined || found.has(id)) continue;
    found.add(id);
    open.push(...member.candidate.parents);
  }
  return found;
}

function complement({ first, second, ancestor }: Triple): boolean {
  if (rank(ancestor) > rank(first) || rank(ancestor) > rank(second)) return false;
  const changed = ({ candidate }: Member) =>
    Object.keys(ancestor.candidate.texts).filter((name) => candidate.texts[name] !== ancestor.candidate.texts[name]);
  const [a, b] = [changed(first), changed(second)];
  return a.some((name) => !b.includes(name)) && b.some((name) => !a.includes(name));
}

const rank = ({ scores }: Member): number => meanScore(scores) ?? Number.NEGATIVE_INFINITY;
