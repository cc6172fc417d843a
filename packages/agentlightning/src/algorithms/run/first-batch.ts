import { UserError } from '../../errors.ts';
import { type Episode, gradeEpisode } from '../../samples/index.ts';

/**
 * Refuses to go on when the first rollouts of a run show that nothing can ever be learned: the agent never called the
 * model, or nothing was graded. Later the same is a step to skip, because it may pass.
 *
 * @throws {UserError} `agent_never_called_model`, `nothing_graded`
 */
export function assertFirstBatchUsable(episodes: readonly Episode[]): void {
  const attempts = episodes.flatMap((episode) => episode.attempts);
  const failure = attempts.find(({ attempt }) => attempt.failure)?.attempt.failure;
  const cause = failure ? ` The first failure was ${failure.code}: ${failure.message}` : '';
  if (attempts.every(({ calls }) => calls.length === 0)) {
    throw new UserError({
      code: 'agent_never_called_model',
      message: `None of the first ${episodes.length} rollouts called the model.${cause}`,
      hint: failure
        ? 'Run the agent by itself on one task to see why it fails.'
        : 'The agent must send its requests to OPENAI_BASE_URL with OPENAI_API_KEY from its environment.',
    });
  }
  if (episodes.some((episode) => 'reward' in gradeEpisode(episode))) return;
  throw new UserError({
    code: 'nothing_graded',
    message: `None of the first ${episodes.length} rollouts has a reward.${cause}`,
    hint: 'Check the grader in agl.config.ts on one task, or emit a reward from the agent.',
  });
}
