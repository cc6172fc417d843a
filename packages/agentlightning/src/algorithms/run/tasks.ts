import type { Task } from '../../store/types.ts';
import { seedFor, shuffled } from '../random.ts';

/**
 * The tasks of a step, counted from 1. Each pass over the data is a new shuffle; what is left of it at the end and does
 * not fill a step is passed over. A pure function of seed and step, so that a resumed run goes on in the same order.
 */
export function tasksOfStep(
  { tasks, seed, tasksPerStep }: { tasks: readonly Task[]; seed: number; tasksPerStep: number },
  step: number,
): Task[] {
  const size = Math.min(tasksPerStep, tasks.length);
  const stepsPerPass = Math.floor(tasks.length / size);
  const pass = Math.floor((step - 1) / stepsPerPass);
  const first = ((step - 1) % stepsPerPass) * size;
  return shuffled(tasks, seedFor(seed, 'pass', pass)).slice(first, first + size);
}
