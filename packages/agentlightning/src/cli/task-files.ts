import { type Config, compareTaskSets, loadTasks } from '../config/index.ts';
import { graderRequirements } from '../rollouts/index.ts';
import type { Task } from '../store/types.ts';

/** The tasks of a configuration, checked for what its grader needs; held-out ones up to `validation.tasks`. */
export async function loadTaskFiles(
  config: Config,
  note: (message: string) => void,
): Promise<{ train: Task[]; validation: Task[] }> {
  const { inputFields } = config.tasks;
  const options = {
    requiredPrivate: graderRequirements(config.grader),
    ...(inputFields === undefined ? {} : { inputFields }),
  };
  const train = await loadTasks(config.tasks.train, options);
  const all = config.tasks.validation === undefined ? [] : await loadTasks(config.tasks.validation, options);
  for (const warning of compareTaskSets(train, all)) note(warning);
  return { train, validation: all.slice(0, config.validation.tasks ?? all.length) };
}
