import { GraderError } from './grader.ts';

/**
 * What a grader gave, as a reward. `null` means that there is none; `undefined` is a forgotten `return`, not a judgement.
 * @throws {GraderError} for anything else that is not a finite number
 */
export function rewardValue(value: unknown, log = ''): number | null {
  if (value === null) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value === undefined) {
    const message = 'The grader returned undefined. Return a number, or null where there is no reward.';
    throw new GraderError('grader_not_finite', message, log);
  }
  throw new GraderError('grader_not_finite', `The grader gave ${show(value)}, not a finite number.`, log);
}

function show(value: unknown): string {
  return typeof value === 'number'
    ? String(value)
    : `${typeof value} ${JSON.stringify(value)?.slice(0, 80) ?? ''}`.trim();
}
