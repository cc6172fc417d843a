import type { Task } from '../store/types.ts';
import { TaskFileError } from './errors.ts';
import { canonical } from './task-row.ts';

/**
 * Compares the two task sets of a run.
 * @returns warnings: a gain on a validation task that was trained on says nothing about new tasks
 * @throws {TaskFileError} when one id means two different tasks: the store keeps one task an id
 */
export function compareTaskSets(train: readonly Task[], validation: readonly Task[]): string[] {
  const trainById = new Map(train.map((task) => [task.id, task]));
  const trainInputs = new Set(train.map((task) => canonical(task.input)));
  const conflict = validation.find((task) => {
    const other = trainById.get(task.id);
    return other !== undefined && canonical(content(other)) !== canonical(content(task));
  });
  if (conflict) {
    throw new TaskFileError({
      code: 'task_id_conflict',
      message: `The id "${conflict.id}" stands for one task in the training file and for another in the validation file.`,
      hint: 'Give them different ids (for instance "train-1" and "dev-1"), or leave "id" out: one is then made from the content.',
    });
  }
  return [
    ...warn(
      validation.filter((task) => trainById.has(task.id)),
      'are training tasks too',
    ),
    ...warn(
      validation.filter((task) => !trainById.has(task.id) && trainInputs.has(canonical(task.input))),
      'have the same input as a training task',
    ),
  ];
}

function content({ input, private: hidden }: Task) {
  return { input, private: hidden };
}

function warn(tasks: readonly Task[], what: string): string[] {
  if (tasks.length === 0) return [];
  const examples = tasks.slice(0, 3).map((task) => `"${task.id}"`);
  const more = tasks.length > examples.length ? ', …' : '';
  return [
    `${tasks.length} validation task(s) ${what}: ${examples.join(', ')}${more}. Their results say nothing about new tasks.`,
  ];
}
