import { describe, expect, it } from 'vitest';
import { counted, duration, interval, percent, reportLine, sparkline } from './format.ts';
import type { StepMetrics } from './metrics.ts';

const estimate = { mean: 0.4525, low: 0.38, high: 0.5249, count: 128 };

const step: StepMetrics = {
  kind: 'step',
  step: 7,
  steps: 100,
  policyVersion: 7,
  reward: estimate,
  success: estimate,
  rollouts: 128,
  ungraded: { grader_crash: 2 },
  groups: 16,
  zeroVarianceGroups: 3,
  calls: 256,
  trainedCalls: 200,
  dropped: { zero_advantage: 50, no_reward: 6 },
  sampledTokens: 3000,
  trainedTokens: 2500,
  tokensPerSecond: 8123.4,
  loss: 0.1,
  gradNorm: 0.5,
  clipFraction: 0,
  learningRate: 1e-4,
  mismatch: { max: 3.1e-6, mean: 1e-7 },
  seconds: { rollouts: 2, training: 1, total: 3 },
  secondsLeft: 127,
};

describe('report lines', () => {
  it('show everything a person watches, with reasons counted', () => {
    expect(reportLine(step)).toBe(
      'step   7/100  reward 0.453 [0.380, 0.525]  success 45.3 % [38.0, 52.5]  8123 tok/s  dropped 56 (zero_advantage 50, no_reward 6)  ungraded 2 (grader_crash 2)  mismatch 3.1e-6  left 2:07',
    );
  });

  it('show a missing estimate as a dash, not as 0', () => {
    expect(percent(null)).toBe('–');
    expect(interval(null)).toBe('–');
    const single = JSON.parse(JSON.stringify({ mean: 0.5, low: Number.NEGATIVE_INFINITY, high: Number.NaN }));
    expect(interval(single)).toBe('0.500 [–, –]');
    expect(percent(single)).toBe('50.0 % [–, –]');
  });
});

describe('duration', () => {
  it.each([
    [0, '0:00'],
    [65, '1:05'],
    [3909, '1:05:09'],
    [-3, '0:00'],
  ])('%d s is %s', (seconds, text) => expect(duration(seconds)).toBe(text));
});

it('counted leaves out reasons with no count', () => expect(counted({ a: 0 })).toBe('none'));

it('sparkline keeps gaps and the 0 to 1 scale', () => {
  expect(sparkline([0, null, 0.5, 1])).toBe('▁ ▅█');
  expect(sparkline([0.5])).toBe('▅');
});
