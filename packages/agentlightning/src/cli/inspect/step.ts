import { automaticAssigner, findFaults, type GrpoOptions } from '../../algorithms/index.ts';
import { algorithmsOf, type Config, servedModel } from '../../config/index.ts';
import {
  buildSamples,
  creditAssigner,
  type DropReason,
  type Episode,
  gradeEpisode,
  type SampleSettings,
} from '../../samples/index.ts';

export interface CallReport {
  callId: string;
  rolloutId: string;
  /** Null: trained on. */
  reason: DropReason | null;
  /** What automatic rules found in it, from −1 to 0; never part of its rollout's reward. */
  automatic: Record<string, number>;
}

export interface StepReport {
  step: number;
  rollouts: number;
  graded: number;
  /** Null when no rollout has a reward. */
  meanReward: number | null;
  calls: CallReport[];
}

/**
 * What became of every call of a step: samples are built again from the records, with the run's own configuration and
 * the policy version that the step's calls name.
 */
export function reportStep(step: number, episodes: readonly Episode[], config: Config): StepReport {
  const rewards = episodes.flatMap((episode) => {
    const grade = gradeEpisode(episode);
    return 'reward' in grade ? [grade.reward] : [];
  });
  const faults = faultsOf(episodes, config.algorithm);
  const policy = servedModel(config);
  const { outcomes } = buildSamples(episodes, {
    policy,
    policyVersion: versionOf(episodes, policy),
    maxTokens: Number.MAX_SAFE_INTEGER,
    scaleByStd: true,
    ...settingsOf(config.algorithm, step),
  });
  return {
    step,
    rollouts: episodes.length,
    graded: rewards.length,
    meanReward: rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    calls: outcomes.map((outcome) => ({ ...outcome, automatic: faults.get(outcome.callId) ?? {} })),
  };
}

/** Of several algorithms the one whose samples have advantages. */
const grpoOf = (config: Config['algorithm']): GrpoOptions | undefined =>
  algorithmsOf(config).find((each): each is typeof each & GrpoOptions => 'advantages' in each);

function settingsOf(config: Config['algorithm'], step: number): SampleSettings {
  const options = grpoOf(config);
  if (options === undefined) return {};
  const { credit, scaleByStd, advantages: estimator, automatic } = options;
  const rules = automatic.rules.length > 0 ? { automatic: automaticAssigner(automatic, step) } : {};
  return { credit: creditAssigner(credit), scaleByStd, estimator, ...rules };
}

/** By call. */
function faultsOf(episodes: readonly Episode[], config: Config['algorithm']): Map<string, Record<string, number>> {
  const found = new Map<string, Record<string, number>>();
  const automatic = grpoOf(config)?.automatic;
  if (automatic === undefined) return found;
  const attempts = episodes.flatMap((episode) => episode.attempts);
  for (const { callId, rule, value } of attempts.flatMap((attempt) => findFaults(attempt, automatic))) {
    found.set(callId, { ...found.get(callId), [rule]: value });
  }
  return found;
}

/** The version that most calls of the policy begin with. */
function versionOf(episodes: readonly Episode[], policy: string): number {
  const counts = new Map<number, number>();
  for (const { attempts } of episodes) {
    for (const call of attempts.flatMap(({ calls }) => calls)) {
      const version = call.policy === policy ? call.choices[0]?.policyVersions[0]?.version : undefined;
      if (version !== undefined) counts.set(version, (counts.get(version) ?? 0) + 1);
    }
  }
  return [...counts].sort((left, right) => right[1] - left[1])[0]?.[0] ?? 0;
}
