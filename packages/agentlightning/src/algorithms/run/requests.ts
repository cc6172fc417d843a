import { UserError } from '../../errors.ts';
import type { RolloutRequest, Task } from '../../store/types.ts';
import type { RolloutPlan } from '../algorithm.ts';
import { seedFor } from '../random.ts';
import type { RunInput } from './run.ts';

/**
 * Ids are made of run, step, task and number, so that asking for the same rollout twice is one rollout. Validations have
 * the same seeds at every step: two of them differ by the policy alone.
 */
export function requestsOf(
  { runId, seed, loop }: Pick<RunInput, 'runId' | 'seed' | 'loop'>,
  { step, tasks, count, mode = 'train', label }: RolloutPlan,
): RolloutRequest[] {
  const place = `${runId}:${mode === 'validation' ? 'v' : ''}${step}${label === undefined ? '' : `/${label}`}`;
  const stream = [mode, ...(mode === 'validation' ? [] : [step]), ...(label === undefined ? [] : [label])];
  return tasks.flatMap((task) =>
    Array.from({ length: count }, (_, number) => ({
      id: `${place}:${task.id}:${number}`,
      runId,
      taskId: task.id,
      groupId: `${place}:${task.id}`,
      mode,
      step,
      seed: seedFor(seed, ...stream, task.id, number),
      maxAttempts: loop.maxAttempts,
    })),
  );
}

/**
 * All tasks once, for the store.
 * @throws {UserError} `no_tasks`, `task_id_twice`
 */
export function allTasks({ tasks, validationTasks }: Pick<RunInput, 'tasks' | 'validationTasks'>): Task[] {
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
