import { describe, expect, it } from 'vitest';
import { mixSeed } from './seeds.ts';

describe('mixSeed', () => {
  it('gives 32 unsigned bits, the same for the same parts', () => {
    expect(mixSeed(7, 0, 1)).toBe(mixSeed(7, 0, 1));
    expect(mixSeed(-1, 2 ** 52)).toBeGreaterThanOrEqual(0);
    expect(mixSeed(-1, 2 ** 52)).toBeLessThan(2 ** 32);
  });

  it('tells neighbours, order and high bits apart', () => {
    const seeds = [mixSeed(1, 2), mixSeed(2, 1), mixSeed(1, 3), mixSeed(1), mixSeed(1, 2, 0), mixSeed(1 + 2 ** 32, 2)];
    expect(new Set(seeds).size).toBe(seeds.length);
  });

  it('flips about half of the bits when one part changes by one', () => {
    let flipped = 0;
    for (let part = 0; part < 1000; part += 1) flipped += bits(mixSeed(42, part) ^ mixSeed(42, part + 1));
    expect(flipped / 1000).toBeGreaterThan(15);
    expect(flipped / 1000).toBeLessThan(17);
  });
});

function bits(value: number): number {
  return (value >>> 0).toString(2).replaceAll('0', '').length;
}
