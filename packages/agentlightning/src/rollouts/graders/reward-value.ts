import { GraderError } from './grader.ts';

/**
 * What a grader gave, as a reward. `null` (or nothing at all from a function) means that there is none.
 * @throws {GraderError} for anything else that is not a finite number
 */
export function rewardValue(value: unknown, log = ''): number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new GraderError('grader_not_finite', `The grader gave ${show(value)}, not a finite number.`, log);
}

function show(value: unknown): string {
  return typeof value === 'number'
    ? String(value)
    : `${typeof value} ${JSON.stringify(value)?.slice(0, 80) ?? ''}`.trim();
}
