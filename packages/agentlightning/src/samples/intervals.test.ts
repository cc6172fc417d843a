import { describe, expect, it } from 'vitest';
import { meanInterval, pairedDifference, proportionInterval } from './intervals.ts';
import { studentT975 } from './student-t.ts';

/** P(−t ≤ T ≤ t) by Simpson's rule over the density, after T = √n · tan θ makes the range finite. */
function coverage(t: number, degreesOfFreedom: number): number {
  const limit = Math.atan(t / Math.sqrt(degreesOfFreedom));
  const integral = (upper: number): number => {
    const parts = 20_000;
    let sum = 0;
    for (let part = 0; part <= parts; part += 1) {
      const factor = part === 0 || part === parts ? 1 : part % 2 === 1 ? 4 : 2;
      sum += factor * Math.cos((part / parts) * upper) ** (degreesOfFreedom - 1);
    }
    return (sum * upper) / parts / 3;
  };
  return integral(limit) / integral(Math.PI / 2);
}

describe('studentT975', () => {
  // Table of the t distribution, two tails 0.05, as R's qt(0.975, n) and scipy.stats.t.ppf(0.975, n) give it.
  it.each([
    [1, 12.7062047],
    [2, 4.3026527],
    [3, 3.1824463],
    [4, 2.7764451],
    [5, 2.5705818],
    [10, 2.2281389],
    [30, 2.0422725],
    [100, 1.9839715],
    [1000, 1.9623391],
    [1001, 1.9623367],
  ])('%i degrees of freedom: %f', (degreesOfFreedom, quantile) => {
    expect(studentT975(degreesOfFreedom)).toBeCloseTo(quantile, 6);
  });

  it('covers 95 % by numerical integration', () => {
    for (const n of [1, 2, 3, 4, 5, 7, 12, 40, 300, 2000]) expect(coverage(studentT975(n), n)).toBeCloseTo(0.95, 7);
  });
});

describe('proportionInterval', () => {
  // R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i: %f to %f', (successes, count, low, high) => {
    const interval = proportionInterval(successes, count)!;
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
    expect(interval).toMatchObject({ mean: successes / count, count });
  });

  it('mirrors, and has no interval without trials', () => {
    const { low, high } = proportionInterval(29, 29)!;
    expect(high).toBe(1);
    expect(low).toBeCloseTo(1 - proportionInterval(0, 29)!.high, 12);
    expect(proportionInterval(0, 0)).toBeNull();
  });
});

describe('meanInterval', () => {
  it('is mean ± t · s/√n', () => {
    // Mean 5, s² 2.5, t(4) 2.776445: half a width of 2.776445 · √(2.5 / 5).
    const { mean, low, high, count } = meanInterval([3, 4, 5, 6, 7])!;
    expect([mean, count]).toEqual([5, 5]);
    expect(high - mean).toBeCloseTo(1.963243, 6);
    expect(mean - low).toBeCloseTo(1.963243, 6);
  });

  it('has no bounds for one value, and is null for none', () => {
    expect(meanInterval([2])).toEqual({ mean: 2, low: -Infinity, high: Infinity, count: 1 });
    expect(meanInterval([])).toBeNull();
  });
});

describe('pairedDifference', () => {
  it('compares tasks that were graded in both', () => {
    // W. S. Gosset ("Student"), The Probable Error of a Mean, Biometrika 6 (1908): hours of sleep gained by ten
    // patients under two drugs; paired difference 1.58, 95 % interval 0.70 to 2.46.
    const first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
    const byTask = (values: number[]) => Object.fromEntries(values.map((value, at) => [`patient ${at}`, value]));
    const difference = pairedDifference(
      { ...byTask(first), ungraded: null, 'only before': 9 },
      { ...byTask(second), ungraded: 9, 'only after': 9 },
    )!;
    expect(difference.count).toBe(10);
    expect(difference.mean).toBeCloseTo(1.58, 10);
    expect(difference.low).toBeCloseTo(0.7001142, 6);
    expect(difference.high).toBeCloseTo(2.4598858, 6);
  });

  it('is null without a common task', () => {
    expect(pairedDifference({ a: 1 }, { b: 1 })).toBeNull();
  });
});
