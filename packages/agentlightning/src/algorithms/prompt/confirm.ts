import type { Estimate } from '../../metrics/metrics.ts';
import { pairedDifference } from '../../samples/index.ts';
import type { Candidate } from './candidate.ts';
import type { SearchPorts } from './ports.ts';
import { scoresOf, tried } from './trials.ts';

/** With fewer tasks even a change of all of them in one direction may be chance (2⁻⁵ > 0.025). */
export const leastHeldOutTasks = 6;

export interface Confirmation {
  /** The held-out gain over the prompts as they were, paired by task; null when nothing could be compared. */
  gain: Estimate | null;
  /** `improved`: the interval of the gain is above 0. Anything else names no winner. */
  verdict: 'improved' | 'not_confirmed' | 'too_few_tasks' | 'same' | 'budget_spent';
}

/** Tries start and best on held-out tasks, which have had no part in the search, and says what may be claimed. */
export async function confirm(
  ports: Pick<SearchPorts, 'evaluate'>,
  { start, best, heldOut }: { start: Candidate; best: Candidate; heldOut: readonly string[] },
): Promise<Confirmation> {
  if (start.id === best.id) return { gain: null, verdict: 'same' };
  const before = await tried(ports, start, heldOut, 'held-out');
  const after = await tried(ports, best, heldOut, 'held-out');
  if (before === null || after === null) return { gain: null, verdict: 'budget_spent' };
  const gain = pairedDifference(scoresOf(before), scoresOf(after));
  return { gain, verdict: verdictOf(gain) };
}

export function verdictOf(gain: Estimate | null): Confirmation['verdict'] {
  if (gain === null || gain.count < leastHeldOutTasks) return 'too_few_tasks';
  return gain.low > 0 ? 'improved' : 'not_confirmed';
}
