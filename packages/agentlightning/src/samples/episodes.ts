import type { Attempt, Call, Reward, Rollout, Span } from '../store/types.ts';

export interface EpisodeAttempt {
  attempt: Attempt;
  /** In order of `sequence`. */
  calls: Call[];
  rewards: Reward[];
  /** Read only where something needs them, for instance automatic rewards. */
  spans?: readonly Span[];
}

/** A rollout that has ended, with everything that its attempts left. */
export interface Episode {
  rollout: Rollout;
  /** In order of their number; the last one decided the rollout. */
  attempts: EpisodeAttempt[];
}

/** A rollout's reward, or the stable code of why it has none. */
export type Grade = { reward: number } | { ungraded: string };

/**
 * The reward that an episode is trained on. Success and failures of the agent's own are graded; a failure of
 * infrastructure, a cancelled and a superseded rollout never are: they are masked and not 0.
 */
export function gradeEpisode({ rollout, attempts }: Episode): Grade {
  if (rollout.superseded) return { ungraded: 'superseded' };
  if (rollout.failure?.class === 'infrastructure') return { ungraded: rollout.failure.code };
  if (rollout.state !== 'succeeded' && rollout.state !== 'failed') return { ungraded: rollout.state };
  const value = attemptReward(attempts.at(-1)?.rewards ?? []);
  if (value === null) return { ungraded: rollout.failure?.code ?? 'no_reward' };
  return Number.isFinite(value) ? { reward: value } : { ungraded: 'reward_not_finite' };
}

/**
 * The attempt's own reward: of the most trusted source that gave any (design §4: grader, agent, standard output), the
 * last one named `reward`, else the last one. A source that said null said that there is no reward: a less trusted one
 * is not asked, because a group must not mix sources.
 */
function attemptReward(rewards: readonly Reward[]): number | null {
  const own = rewards.filter(({ agentName, callId }) => agentName === null && callId === null);
  for (const source of ['grader', 'agent', 'stdout'] as const) {
    const given = own.filter((reward) => reward.source === source);
    const chosen = given.findLast(({ name }) => name === 'reward') ?? given.at(-1);
    if (chosen) return chosen.value;
  }
  return null;
}
