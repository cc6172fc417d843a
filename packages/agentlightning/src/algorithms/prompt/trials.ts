import type { Candidate, Member } from './candidate.ts';
import type { SearchPorts, Trial, TrialResult } from './ports.ts';

/** The results of a candidate on tasks, in their order; null when the budget did not suffice for all of them. */
export async function tried(
  ports: Pick<SearchPorts, 'evaluate'>,
  candidate: Candidate,
  taskIds: readonly string[],
  set: Trial['set'] = 'train',
): Promise<TrialResult[] | null> {
  const results = await ports.evaluate(taskIds.map((taskId) => ({ candidate, taskId, set })));
  const complete = results.filter((result) => result !== null);
  return complete.length === results.length ? complete : null;
}

export function scoresOf(results: readonly TrialResult[]): Member['scores'] {
  return Object.fromEntries(results.map(({ taskId, reward }) => [taskId, reward]));
}

/** Worst first, ungraded ones left out: what the infrastructure broke says nothing about a prompt. */
export function worstFirst(results: readonly TrialResult[]): TrialResult[] {
  return results.filter(({ reward }) => reward !== null).sort((a, b) => a.reward! - b.reward!);
}

/** Sums over the tasks that are graded in both. */
export function pairedSums(a: Member['scores'], b: Member['scores']): { a: number; b: number; count: number } {
  const sums = { a: 0, b: 0, count: 0 };
  for (const [task, first] of Object.entries(a)) {
    const second = b[task] ?? null;
    if (first === null || second === null) continue;
    sums.a += first;
    sums.b += second;
    sums.count += 1;
  }
  return sums;
}
