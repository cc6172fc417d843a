import { createHash } from 'node:crypto';

/** How a candidate came to be. */
export type Origin =
  | { kind: 'seed' }
  /** One prompt of its parent was written anew. */
  | { kind: 'edit' | 'reflection'; prompt: string }
  /** Of two parents with this common ancestor. */
  | { kind: 'merge'; ancestor: string };

/** One text for each prompt of the agent system. */
export interface Candidate {
  /** Made of the texts: the same texts are the same candidate, however they came about. */
  id: string;
  texts: Readonly<Record<string, string>>;
  parents: readonly string[];
  origin: Origin;
}

export function createCandidate({ texts, parents, origin }: Omit<Candidate, 'id'>): Candidate {
  const sorted = Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1));
  const id = createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 24);
  return { id, texts, parents, origin };
}

/** A candidate that has been tried on the tasks of the comparison. */
export interface Member {
  candidate: Candidate;
  /** By task; null where the infrastructure failed: such a task is left out and never 0. */
  scores: Readonly<Record<string, number | null>>;
  /** Counts whose prompt is next in turn. */
  turn: number;
}

/** Over the graded tasks; null when there is none. */
export function meanScore(scores: Member['scores']): number | null {
  const graded = Object.values(scores).filter((score) => score !== null);
  return graded.length === 0 ? null : graded.reduce((sum, score) => sum + score, 0) / graded.length;
}

/** The member with the best mean; of equals the one that was there first. */
export function bestOf<T extends Pick<Member, 'scores'>>(members: readonly T[]): T {
  const [first, ...others] = members;
  if (first === undefined) throw new RangeError('There is no member to choose from.');
  const rank = (member: T) => meanScore(member.scores) ?? Number.NEGATIVE_INFINITY;
  return others.reduce((best, member) => (rank(member) > rank(best) ? member : best), first);
}

/** Every task is graded, and none below the threshold. */
export function isPerfect(
  { scores }: Pick<Member, 'scores'>,
  { successThreshold }: { successThreshold: number },
): boolean {
  return Object.values(scores).every((score) => score !== null && score >= successThreshold);
}
