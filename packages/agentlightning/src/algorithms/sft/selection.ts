import { type Episode, type EpisodeAttempt, gradeEpisode } from '../../samples/index.ts';
import type { Call, CallChoice } from '../../store/types.ts';
import type { CallVerdict, ExclusionReason } from './exclusions.ts';

export interface SelectionOptions {
  /** Least reward of a rollout; null takes every graded one. */
  minReward: number | null;
  /** Best of n: so many rollouts of each group, the highest rewards first, of equal ones the earlier; null takes all. */
  bestPerGroup: number | null;
  /** Names of agents; null takes all, nameless ones too. */
  agents: readonly string[] | null;
  /** Names of policies and aliases of frozen models whose answers are learned from; null takes all. */
  models: readonly string[] | null;
  /** Ids of tasks that must not be learned from: those of the validation. */
  exceptTasks?: ReadonlySet<string>;
}

/** One answer to learn from, with where it stands. */
export interface SelectedAnswer {
  episode: Episode;
  attempt: EpisodeAttempt;
  call: Call;
  choice: CallChoice;
  reward: number;
}

export interface Selection {
  answers: SelectedAnswer[];
  /** One for each call of each attempt, in order: those with an answer in `answers` have no reason. */
  verdicts: CallVerdict[];
}

/** The answers worth imitating, and for every other call the first reason against it. */
export function selectAnswers(episodes: readonly Episode[], options: SelectionOptions): Selection {
  const selection: Selection = { answers: [], verdicts: [] };
  const rewards = new Map(episodes.map((episode) => [episode, rewardOf(episode)]));
  const best = options.bestPerGroup === null ? null : bestOfGroups(rewards, options.bestPerGroup);
  for (const [episode, reward] of rewards) {
    for (const attempt of episode.attempts) {
      const ended = endFault(episode, attempt);
      const graded = taskFault(episode, options) ?? rewardFault(reward, best === null || best.has(episode), options);
      for (const call of attempt.calls) {
        const choices = usableChoices(call);
        const late = call.late === true ? 'late' : null;
        const reason = ended ?? late ?? graded ?? callFault(call, options) ?? answersFault(call, choices);
        selection.verdicts.push({ callId: call.id, rolloutId: episode.rollout.id, reason });
        if (reason !== null || reward === null) continue;
        for (const choice of choices) selection.answers.push({ episode, attempt, call, choice, reward });
      }
    }
  }
  return selection;
}

function rewardOf(episode: Episode): number | null {
  const grade = gradeEpisode(episode);
  return 'reward' in grade ? grade.reward : null;
}

function bestOfGroups(rewards: ReadonlyMap<Episode, number | null>, count: number): ReadonlySet<Episode> {
  const groups = new Map<string, { episode: Episode; reward: number }[]>();
  for (const [episode, reward] of rewards) {
    if (reward === null) continue;
    const { groupId } = episode.rollout;
    groups.set(groupId, [...(groups.get(groupId) ?? []), { episode, reward }]);
  }
  const best = [...groups.values()].flatMap((group) => group.sort((a, b) => b.reward - a.reward).slice(0, count));
  return new Set(best.map(({ episode }) => episode));
}

function endFault({ rollout, attempts }: Episode, attempt: EpisodeAttempt): ExclusionReason | null {
  if (rollout.superseded) return 'superseded';
  if (rollout.state === 'cancelled') return 'rollout_cancelled';
  const lost = rollout.failure?.class === 'infrastructure' || attempt !== attempts.at(-1);
  return lost ? 'infrastructure_failure' : null;
}

const taskFault = ({ rollout }: Episode, { exceptTasks }: SelectionOptions): ExclusionReason | null =>
  exceptTasks?.has(rollout.taskId) ? 'validation_task' : null;

function rewardFault(reward: number | null, isBest: boolean, { minReward }: SelectionOptions): ExclusionReason | null {
  if (reward === null) return 'no_reward';
  if (minReward !== null && reward < minReward) return 'low_reward';
  return isBest ? null : 'not_best';
}

function callFault(
  { agentName, policy, model, untrainable }: Call,
  { agents, models }: SelectionOptions,
): ExclusionReason | null {
  if (agents !== null && (agentName === null || !agents.includes(agentName))) return 'other_agent';
  if (models !== null && !models.includes(policy ?? model)) return 'other_model';
  // Without ids the text can be rendered, and imitation asks for no log probs.
  return untrainable === 'missing_token_ids' || untrainable === 'missing_log_probs' ? null : untrainable;
}

function usableChoices({ choices }: Call): CallChoice[] {
  return choices.filter(({ finishReason, tokenIds, text }) => {
    if (finishReason === 'tool_calls') return true;
    return finishReason === 'stop' && (tokenIds.length > 0 || text !== '');
  });
}

function answersFault({ choices }: Call, usable: readonly CallChoice[]): ExclusionReason | null {
  if (usable.length > 0) return null;
  return choices.some(({ finishReason }) => finishReason === 'length') ? 'cut_off' : 'empty_answer';
}
