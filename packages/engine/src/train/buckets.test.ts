import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planBatches } from './buckets.ts';

const fullSize = (length: number) => 2048 / length;

describe('planBatches', () => {
  it('fills batches with rows of similar length, longest first', () => {
    const positions = [...Array(70).fill(30), 100, 60, 0];
    expect(planBatches(positions, fullSize)).toEqual([
      { size: 18, length: 112, rows: [70, 71, ...Array(16).keys()] },
      { size: 64, length: 32, rows: Array.from({ length: 54 }, (_, i) => i + 16) },
    ]);
  });

  it('shrinks the last batch', () => {
    expect(planBatches([20, 20, 20], fullSize)).toEqual([{ size: 4, length: 32, rows: [0, 1, 2] }]);
  });

  it('runs a row alone that is longer than a batch', () => {
    expect(planBatches([5000], fullSize)).toEqual([{ size: 1, length: 5120, rows: [0] }]);
  });

  it('places every row with something to predict once, where it fits', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3000)), (positions) => {
        const batches = planBatches(positions, fullSize);
        for (const { size, length, rows } of batches) {
          expect(rows.length).toBeGreaterThan(0);
          expect(rows.length).toBeLessThanOrEqual(size);
          expect(size * length).toBeLessThanOrEqual(Math.max(2048, length));
          for (const row of rows) expect(positions[row]).toBeLessThanOrEqual(length);
          const longest = Math.max(...rows.map((row) => positions[row]!));
          expect(length).toBeLessThan(Math.max(longest + 16, 1.125 * longest));
        }
        const placed = batches.flatMap(({ rows }) => rows).sort((a, b) => a - b);
        expect(placed).toEqual([...positions.keys()].filter((row) => positions[row]! > 0));
      }),
    );
  });
});
