import { describe, expect, it } from 'vitest';
import type { MetricsEvent, StepMetrics, ValidationMetrics } from '../metrics/metrics.ts';
import { summarise, summaryText } from './summary.ts';

const validation = (step: number, byTask: Record<string, number | null>): ValidationMetrics => {
  const graded = Object.values(byTask).filter((reward) => reward !== null);
  const mean = graded.reduce((sum, reward) => sum + reward, 0) / graded.length;
  const estimate = { mean, low: mean, high: mean, count: graded.length };
  return {
    kind: 'validation',
    step,
    policyVersion: step,
    tasks: 4,
    rollouts: 4,
    reward: estimate,
    success: estimate,
    ungraded: {},
    byTask,
    seconds: 1,
  };
};

const step = (number: number, reward: number | null): StepMetrics => ({
  kind: 'step',
  step: number,
  steps: 2,
  policyVersion: number,
  reward: reward === null ? null : { mean: reward, low: 0, high: 1, count: 8 },
  success: null,
  rollouts: 8,
  ungraded: {},
  groups: 1,
  zeroVarianceGroups: 0,
  calls: 8,
  trainedCalls: 6,
  dropped: { no_reward: 2 },
  sampledTokens: 10,
  trainedTokens: 10,
  tokensPerSecond: 10,
  loss: 0,
  gradNorm: 0,
  clipFraction: 0,
  learningRate: 0,
  mismatch: { max: number * 1e-6, mean: 0 },
  seconds: { rollouts: 1, training: 1, total: 2 },
  secondsLeft: 0,
});

const events: MetricsEvent[] = [
  validation(0, { a: 0, b: 0, c: 1, d: null }),
  step(1, 0.25),
  step(1, 0.5),
  step(2, null),
  validation(2, { a: 1, b: 0.5, c: 1, d: 1 }),
];

describe('summary of a run', () => {
  const summary = summarise(events, 1);

  it('pairs the gain by the tasks that were graded both times', () => {
    expect(summary.gain).toBeCloseTo(1 / 3, 12);
    expect(summary.interval?.[0]).toBeLessThan(0);
  });

  it('counts a step that was redone after a resume once, with its last figures', () => {
    expect(summary.steps).toBe(2);
    expect(summary.rewardCurve).toEqual([0.5, null]);
    expect(summary.dropped).toEqual({ no_reward: 4 });
    expect(summary.mismatchMax).toBe(2e-6);
  });

  it('says that nothing was measured instead of showing 0', () => {
    const empty = summarise([step(1, 0.1)], 1);
    expect(empty).toMatchObject({ before: null, after: null, gain: null, interval: null });
    expect(summaryText(empty, { seconds: 1, colour: false })).toContain('before  not measured');
  });
});
