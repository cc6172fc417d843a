import { bounded, moments } from './moments.ts';
import { normalQuantile, studentT975 } from './student-t.ts';

/** A mean with the bounds of its 95 % interval. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
  count: number;
}

/**
 * 95 % interval of a proportion after E. B. Wilson (Journal of the American Statistical Association 22, 1927), without
 * continuity correction: method 3 of R. G. Newcombe (Statistics in Medicine 17, 1998). It stays within 0 and 1 and has
 * a width at 0 of n and n of n. Null when there is nothing to count.
 */
export function proportionInterval(successes: number, count: number): Interval | null {
  if (count === 0) return null;
  const mean = successes / count;
  const z2 = normalQuantile ** 2;
  const centre = (successes + z2 / 2) / (count + z2);
  const half = (normalQuantile / (count + z2)) * Math.sqrt(count * mean * (1 - mean) + z2 / 4);
  const low = successes === 0 ? 0 : centre - half;
  const high = successes === count ? 1 : centre + half;
  return { mean, low, high, count };
}

/**
 * 95 % interval of a mean with Student's t, mean ± t · s/√n. It takes the values as independent; rollouts of one task
 * are not quite, so for the reward of a step it is somewhat narrow. One value has no interval: the bounds are infinite.
 */
export function meanInterval(values: readonly number[]): Interval | null {
  const { count, mean, std } = moments(values);
  if (count === 0) return null;
  const half = count === 1 ? Number.POSITIVE_INFINITY : (studentT975(count - 1) * std) / Math.sqrt(count);
  return { mean, low: mean - half, high: mean + half, count };
}

/**
 * 95 % interval of the mean change from one validation to another, by the paired t method: over the tasks that were
 * graded in both, the interval of after − before. Pairing takes out how hard each task is. Null without a common task.
 */
export function pairedDifference(
  before: Readonly<Record<string, number | null>>,
  after: Readonly<Record<string, number | null>>,
): Interval | null {
  const differences: number[] = [];
  for (const [task, earlier] of Object.entries(before)) {
    const later = after[task] ?? null;
    if (earlier !== null && later !== null) differences.push(bounded(later) - bounded(earlier));
  }
  return meanInterval(differences);
}
