import type { StepMetrics } from '../../metrics/metrics.ts';
import { countDropped, type Episode, type SampleSet } from '../../samples/index.ts';
import { learningRateAt } from '../learning-rate.ts';
import { gradeSummary } from '../run/grades.ts';
import { findFaults } from '../turns.ts';
import type { GrpoOptions } from './options.ts';
import type { UpdateReport } from './update.ts';

export interface StepReport {
  step: number;
  /** The version that the step's rollouts were sampled under. */
  policyVersion: number;
  episodes: readonly Episode[];
  samples: SampleSet;
  /** Null when there was nothing to train on. */
  update: UpdateReport | null;
  /** Milliseconds since the step began: when the rollouts had ended, and now. */
  rolloutsMs: number;
  totalMs: number;
  secondsLeft: number;
}

export function stepMetrics(options: GrpoOptions, report: StepReport): StepMetrics {
  const { step, episodes, samples, update, rolloutsMs, totalMs } = report;
  const calls = episodes.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.calls));
  const sampledTokens = sum(calls.flatMap(({ choices }) => choices.map(({ tokenIds }) => tokenIds.length)));
  const promptTokens = sum(calls.map(({ promptIds }) => promptIds?.length ?? 0));
  return {
    kind: 'step',
    step,
    steps: options.steps,
    policyVersion: report.policyVersion,
    ...gradeSummary(episodes, options.successThreshold),
    ...automaticMeans(episodes, options.automatic),
    rollouts: episodes.length,
    groups: samples.groups.length,
    zeroVarianceGroups: samples.groups.filter(({ zeroVariance }) => zeroVariance).length,
    calls: calls.length,
    trainedCalls: samples.outcomes.filter(({ reason }) => reason === null).length,
    dropped: countDropped(samples.outcomes),
    sampledTokens,
    trainedTokens: sum(samples.samples.map(({ trainedTokens }) => trainedTokens)),
    tokensPerSecond: totalMs > 0 ? (promptTokens + sampledTokens) / (totalMs / 1000) : 0,
    loss: update?.loss ?? null,
    gradNorm: update?.gradNorm ?? null,
    clipFraction: update?.clipFraction ?? null,
    learningRate: learningRateAt(options, step),
    mismatch: update?.mismatch ?? null,
    seconds: { rollouts: rolloutsMs / 1000, training: (totalMs - rolloutsMs) / 1000, total: totalMs / 1000 },
    secondsLeft: report.secondsLeft,
  };
}

/** Over the calls of each rollout's last attempt; nothing where no rule is on. */
function automaticMeans(
  episodes: readonly Episode[],
  settings: GrpoOptions['automatic'],
): Pick<StepMetrics, 'automatic'> {
  if (settings.rules.length === 0) return {};
  const last = episodes.flatMap(({ attempts }) => attempts.slice(-1));
  const calls = sum(last.map((attempt) => attempt.calls.length));
  const faults = last.flatMap((attempt) => findFaults(attempt, settings));
  const meanOf = (rule: string) => sum(faults.map((fault) => (fault.rule === rule ? fault.value : 0))) / (calls || 1);
  return { automatic: Object.fromEntries(settings.rules.map(({ rule }) => [rule, meanOf(rule)])) };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
