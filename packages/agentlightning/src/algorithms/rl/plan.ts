import { UserError } from '../../errors.ts';
import type { RolloutRequest, Task } from '../../store/types.ts';
import { seedFor, shuffled } from '../random.ts';
import type { TrainInput } from './run.ts';

/**
 * The tasks of a step, counted from 1. Each pass over the data is a new shuffle; what is left of it at the end and does
 * not fill a step is passed over. A pure function of seed and step, so that a resumed run goes on in the same order.
 */
export function tasksOfStep(
  { tasks, options, seed }: Pick<TrainInput, 'tasks' | 'options' | 'seed'>,
  step: number,
): Task[] {
  const size = Math.min(options.tasksPerStep, tasks.length);
  const stepsPerPass = Math.floor(tasks.length / size);
  const pass = Math.floor((step - 1) / stepsPerPass);
  const first = ((step - 1) % stepsPerPass) * size;
  return shuffled(tasks, seedFor(seed, 'pass', pass)).slice(first, first + size);
}

/** Ids are made of run, step, task and number, so that asking for the same rollout twice is one rollout. */
export function trainingRequests(input: TrainInput, step: number): RolloutRequest[] {
  const { runId, seed, options } = input;
  return tasksOfStep(input, step).flatMap((task) =>
    numbers(options.groupSize).map((number) => ({
      id: `${runId}:${step}:${task.id}:${number}`,
      runId,
      taskId: task.id,
      groupId: `${runId}:${step}:${task.id}`,
      mode: 'train' as const,
      step,
      seed: seedFor(seed, 'train', step, task.id, number),
      maxAttempts: input.loop.maxAttempts,
    })),
  );
}

/** The same seeds at every validation: two of them differ by the policy alone. */
export function validationRequests(input: TrainInput, step: number): RolloutRequest[] {
  const { runId, seed, loop } = input;
  return input.validationTasks.flatMap((task) =>
    numbers(loop.rolloutsPerValidationTask).map((number) => ({
      id: `${runId}:v${step}:${task.id}:${number}`,
      runId,
      taskId: task.id,
      groupId: `${runId}:v${step}:${task.id}`,
      mode: 'validation' as const,
      step,
      seed: seedFor(seed, 'validation', task.id, number),
      maxAttempts: loop.maxAttempts,
    })),
  );
}

/**
 * All tasks once, for the store.
 * @throws {UserError} `no_tasks`, `task_id_twice`
 */
export function allTasks({ tasks, validationTasks }: Pick<TrainInput, 'tasks' | 'validationTasks'>): Task[] {
  if (tasks.length === 0) {
    throw new UserError({ code: 'no_tasks', message: 'There are no tasks to train on.', hint: 'Check tasks.train.' });
  }
  const known = new Map<string, string>();
  for (const set of [tasks, validationTasks]) {
    const seen = new Set<string>();
    for (const task of set) {
      const content = JSON.stringify([task.input, task.private]);
      const earlier = known.get(task.id) ?? content;
      if (seen.has(task.id) || earlier !== content) {
        throw new UserError({
          code: 'task_id_twice',
          message: `The task id "${task.id}" is used by two tasks.`,
          hint: 'Give each task its own id, in training and validation tasks together.',
        });
      }
      seen.add(task.id);
      known.set(task.id, content);
    }
  }
  return [...new Map([...tasks, ...validationTasks].map((task) => [task.id, task])).values()];
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
