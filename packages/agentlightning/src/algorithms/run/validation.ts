import type { ValidationMetrics } from '../../metrics/metrics.ts';
import { type Episode, gradeEpisode } from '../../samples/index.ts';
import type { AlgorithmContext } from '../algorithm.ts';
import { gradeSummary } from './grades.ts';
import type { LoopOptions } from './loop-options.ts';

/** All validation tasks under the served weights. Asked again for a step, it runs only what is missing. */
export async function validate(
  context: AlgorithmContext,
  { step, loop }: { step: number; loop: LoopOptions },
): Promise<ValidationMetrics> {
  const { clock, validationTasks: tasks, policyVersion } = context;
  const startedAt = clock();
  const count = loop.rolloutsPerValidationTask;
  const episodes = await context.run(context.requests({ step, tasks, count, mode: 'validation' }));
  return {
    kind: 'validation',
    step,
    policyVersion,
    tasks: tasks.length,
    rollouts: episodes.length,
    ...gradeSummary(episodes, context.options.successThreshold),
    byTask: rewardByTask(episodes),
    seconds: (clock() - startedAt) / 1000,
  };
}

/** Mean reward of each task's graded rollouts; null where none was graded. */
function rewardByTask(episodes: readonly Episode[]): Record<string, number | null> {
  const rewards = new Map<string, number[]>();
  for (const episode of episodes) {
    const { taskId } = episode.rollout;
    const grade = gradeEpisode(episode);
    rewards.set(taskId, [...(rewards.get(taskId) ?? []), ...('reward' in grade ? [grade.reward] : [])]);
  }
  return Object.fromEntries(
    [...rewards].map(([task, values]) => [
      task,
      values.length > 0 ? values.reduce((sum, value) => sum + value / values.length, 0) : null,
    ]),
  );
}
