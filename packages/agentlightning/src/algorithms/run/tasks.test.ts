import { describe, expect, it } from 'vitest';
import { banditTasks } from '../rl/bandit.test.support.ts';
import { tasksOfStep } from './tasks.ts';

const tasks = banditTasks('train', 10);
const idsOf = (step: number, tasksPerStep = 3, seed = 1) =>
  tasksOfStep({ tasks, seed, tasksPerStep }, step).map(({ id }) => id);

describe('tasksOfStep', () => {
  it('gives no task twice in a pass over the data, and another order in the next', () => {
    const pass = (number: number) => [1, 2, 3].flatMap((step) => idsOf(3 * number + step));
    expect(new Set(pass(0)).size).toBe(9);
    expect(new Set(pass(1)).size).toBe(9);
    expect(pass(1)).not.toEqual(pass(0));
    const seen = new Set([0, 1, 2, 3, 4, 5, 6, 7].flatMap(pass));
    expect(seen.size).toBe(10); // what one pass leaves over, another has
  });

  it('depends on seed and step alone', () => {
    expect(idsOf(7)).toEqual(idsOf(7));
    expect(idsOf(7, 3, 2)).not.toEqual(idsOf(7));
  });

  it('takes all tasks when a step asks for more than there are', () => {
    expect([...idsOf(5, 64)].sort()).toEqual(tasks.map(({ id }) => id).sort());
  });
});
