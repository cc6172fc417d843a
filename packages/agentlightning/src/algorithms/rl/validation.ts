import type { ValidationMetrics } from '../../metrics/metrics.ts';
import { type Episode, gradeEpisode } from '../../samples/index.ts';
import { gradeSummary } from './grades.ts';
import { validationRequests } from './plan.ts';
import { runRollouts } from './rollouts.ts';
import type { Position, TrainInput } from './run.ts';

/** All validation tasks under the served weights. Asked again for a step, it runs only what is missing. */
export async function validate(
  input: TrainInput,
  { step, policyVersion }: Position,
): Promise<{ metrics: ValidationMetrics; episodes: Episode[] }> {
  const startedAt = input.clock();
  const episodes = await runRollouts(input, validationRequests(input, step));
  const metrics: ValidationMetrics = {
    kind: 'validation',
    step,
    policyVersion,
    tasks: input.validationTasks.length,
    rollouts: episodes.length,
    ...gradeSummary(episodes, input.options.successThreshold),
    byTask: rewardByTask(episodes),
    seconds: (input.clock() - startedAt) / 1000,
  };
  return { metrics, episodes };
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
