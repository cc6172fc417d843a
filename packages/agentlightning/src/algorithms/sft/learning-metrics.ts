import type { StepMetrics } from '../../metrics/metrics.ts';
import type { Episode } from '../../samples/index.ts';
import type { AlgorithmContext } from '../algorithm.ts';
import { gradeSummary } from '../run/grades.ts';
import { type CallVerdict, countExcluded } from './exclusions.ts';
import type { Learned } from './imitate.ts';

export interface LearningReport {
  step: number;
  /** Steps of the whole run. */
  steps: number;
  policyVersion: number;
  /** None when the step learned from records. */
  episodes: readonly Episode[];
  verdicts: readonly CallVerdict[];
  /** Null when there was nothing to learn. */
  learned: Learned | null;
  trainedTokens: number;
  learningRate: number;
  rolloutsMs: number;
  totalMs: number;
}

/** What a step of imitation or preference reports: that of reinforcement learning, without what belongs to it alone. */
export function learningMetrics(context: AlgorithmContext, report: LearningReport): StepMetrics {
  const { step, steps, episodes, verdicts, learned, trainedTokens, learningRate, rolloutsMs, totalMs } = report;
  const calls = episodes.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.calls));
  const sampledTokens = sum(calls.flatMap(({ choices }) => choices.map(({ tokenIds }) => tokenIds.length)));
  const promptTokens = sum(calls.map(({ promptIds }) => promptIds?.length ?? 0));
  const planned = context.options.steps - step;
  return {
    kind: 'step',
    ...{ step, steps, policyVersion: report.policyVersion },
    ...gradeSummary(episodes, context.options.successThreshold),
    rollouts: episodes.length,
    groups: new Set(episodes.map(({ rollout }) => rollout.groupId)).size,
    zeroVarianceGroups: 0,
    calls: calls.length,
    trainedCalls: verdicts.filter(({ reason }) => reason === null).length,
    dropped: countExcluded(verdicts),
    ...{ sampledTokens, trainedTokens },
    tokensPerSecond: totalMs > 0 ? (promptTokens + sampledTokens + trainedTokens) / (totalMs / 1000) : 0,
    loss: learned?.loss ?? null,
    gradNorm: learned?.gradNorm ?? null,
    ...{ clipFraction: null, learningRate, mismatch: null },
    seconds: { rollouts: rolloutsMs / 1000, training: (totalMs - rolloutsMs) / 1000, total: totalMs / 1000 },
    secondsLeft: planned > 0 ? (context.secondsLeft(step) * (steps - step)) / planned : 0,
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
