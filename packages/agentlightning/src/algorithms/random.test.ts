import { describe, expect, it } from 'vitest';
import { seedFor, shuffled } from './random.ts';

describe('seedFor', () => {
  it('is fixed by its parts, and a whole number that every store and engine takes', () => {
    expect(seedFor(1, 'train', 2)).toBe(seedFor(1, 'train', 2));
    const seeds = Array.from({ length: 5000 }, (_, at) => seedFor(1, 'train', at));
    expect(new Set(seeds).size).toBe(seeds.length);
    expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31)).toBe(true);
  });

  it('tells parts apart', () => {
    expect(seedFor('a', 'bc')).not.toBe(seedFor('ab', 'c'));
    expect(seedFor(1, 2)).not.toBe(seedFor(1, '2'));
  });
});

describe('shuffled', () => {
  it('keeps every item, the same way for the same seed', () => {
    const items = Array.from({ length: 20 }, (_, at) => at);
    expect(shuffled(items, 3)).toEqual(shuffled(items, 3));
    expect(shuffled(items, 3)).not.toEqual(shuffled(items, 4));
    expect([...shuffled(items, 3)].sort((a, b) => a - b)).toEqual(items);
  });

  it('puts each item in each place about equally often', () => {
    const counts = Array.from({ length: 4 }, () => [0, 0, 0, 0]);
    for (let seed = 0; seed < 4000; seed += 1) {
      for (const [place, item] of shuffled([0, 1, 2, 3], seedFor(seed)).entries()) counts[item]![place]! += 1;
    }
    // 1000 expected; the standard deviation is 27.
    for (const count of counts.flat()) expect(Math.abs(count - 1000)).toBeLessThan(140);
  });
});
