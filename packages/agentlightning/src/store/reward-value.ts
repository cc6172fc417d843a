import { StoreError } from './errors.ts';
import type { Reward } from './types.ts';

/** @throws {StoreError} `invalid_value`: NaN and infinity are no rewards, and JSON would turn both into null */
export function assertRewardValue(reward: Pick<Reward, 'attemptId' | 'name' | 'source' | 'value'>): void {
  if (reward.value === null || Number.isFinite(reward.value)) return;
  throw new StoreError({
    code: 'invalid_value',
    message: `Reward "${reward.name}" (${reward.source}) of attempt "${reward.attemptId}" is ${reward.value}; a finite number or null was expected.`,
    hint: 'Let the grader return null when there is nothing to judge; a missing reward is never 0.',
  });
}
