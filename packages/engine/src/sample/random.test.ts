import { describe, expect, it } from 'vitest';
import { philox, uniform } from './random.ts';

describe('philox', () => {
  // The known answers of the authors' library Random123, file kat_vectors, philox4x32 with 10 rounds.
  it.each([
    {
      counter: [0, 0, 0, 0],
      key: [0, 0],
      words: [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
    },
    {
      counter: [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      key: [0xffffffff, 0xffffffff],
      words: [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
    },
    {
      counter: [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      key: [0xa4093822, 0x299f31d0],
      words: [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    },
  ] as const)('gives the published answer for $key', ({ counter, key, words }) => {
    expect(philox(counter, key)).toEqual(words);
  });
});

describe('uniform', () => {
  it('stays in [0, 1) and averages a half over tokens and over seeds', () => {
    const tokens = Array.from({ length: 4000 }, (_, index) => uniform(7, index));
    const seeds = Array.from({ length: 4000 }, (_, seed) => uniform(seed, 3));
    for (const values of [tokens, seeds]) {
      expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...values)).toBeLessThan(1);
      // standard error of the mean: sqrt(1 / 12 / 4000) = 0.0046
      expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(0.5, 1);
      expect(new Set(values).size).toBe(4000);
    }
  });

  it('tells seeds apart beyond 32 bits and below zero', () => {
    const values = [1, 1 + 2 ** 32, 1 + 2 ** 52, -1, -1 - 2 ** 32, 0xffffffff].map((seed) => uniform(seed, 0));
    expect(new Set(values).size).toBe(values.length);
  });
});
