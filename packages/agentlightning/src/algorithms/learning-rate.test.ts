import { describe, expect, it } from 'vitest';
import { learningRateAt, type Schedule } from './learning-rate.ts';

const curve = (schedule: Schedule, warmupSteps: number, steps: number) =>
  Array.from({ length: steps }, (_, at) => learningRateAt({ learningRate: 8, warmupSteps, schedule, steps }, at + 1));

describe('learningRateAt', () => {
  it('rises linearly in warm-up, moving at once', () => {
    expect(curve('constant', 4, 6)).toEqual([2, 4, 6, 8, 8, 8]);
  });

  it('falls linearly, and still moves in the last step', () => {
    expect(curve('linear', 2, 6)).toEqual([4, 8, 8, 6, 4, 2]);
  });

  it('falls along half a cosine', () => {
    const [first, , middle, , last] = curve('cosine', 0, 4).concat(
      learningRateAt({ learningRate: 8, warmupSteps: 0, schedule: 'cosine', steps: 4 }, 5),
    );
    expect(first).toBe(8);
    expect(middle).toBeCloseTo(4, 12);
    expect(last).toBeCloseTo(0, 12);
  });

  it('warms up for the whole run when asked to', () => {
    expect(curve('linear', 3, 3).at(-1)).toBe(8);
  });
});
