import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tinyConfig } from '../testing/tiny-model.ts';
import { cacheLength, KeyValueCache } from './cache.ts';

const { kvHeads, headSize, layers } = tinyConfig;

/** A run's output in which every number says where it belongs. */
function fresh(rows: number, width: number, mark: number): Float32Array {
  return Float32Array.from({ length: rows * layers * 2 * kvHeads * width * headSize }, (_, index) => mark + index);
}

/** What `write` should put at a place of the cache. */
function expected(output: Float32Array, width: number, source: number, array: number, head: number, position: number) {
  const block = ((source * layers * 2 + array) * kvHeads + head) * width + position;
  return output.subarray(block * headSize, (block + 1) * headSize);
}

function stored(cache: KeyValueCache, array: number, row: number, head: number, position: number): Float32Array {
  const view = cache.view(array >> 1, (array & 1) as 0 | 1, row, 1);
  const from = (head * cache.length + position) * headSize;
  return view.subarray(from, from + headSize);
}

function expectRow(cache: KeyValueCache, row: number, output: Float32Array, width: number, source: number): void {
  for (let array = 0; array < layers * 2; array++) {
    for (let head = 0; head < kvHeads; head++) {
      for (let position = 0; position < width; position++) {
        expect(stored(cache, array, row, head, position)).toEqual(
          expected(output, width, source, array, head, position),
        );
      }
    }
  }
}

describe('KeyValueCache', () => {
  it('keeps rows through growing, shrinking and copies', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ rows: fc.integer({ min: 3, max: 9 }), positions: fc.integer({ min: 5, max: 160 }) }), {
          minLength: 1,
          maxLength: 6,
        }),
        (sizes) => {
          const cache = new KeyValueCache(tinyConfig);
          const output = fresh(3, 5, 1);
          cache.reserve(3, 5, 0);
          for (const row of [0, 1, 2]) cache.write(output, 5, row, row, 0, 5);
          for (const { rows, positions } of sizes) {
            cache.reserve(rows, positions, 3);
            expect(cache.length).toBeGreaterThanOrEqual(positions);
            for (const row of [0, 1, 2]) expectRow(cache, row, output, 5, row);
          }
          cache.copyRow(2, 0);
          expectRow(cache, 0, output, 5, 2);
        },
      ),
      { numRuns: 15 },
    );
  });

  it('writes single positions behind each other', () => {
    const cache = new KeyValueCache(tinyConfig);
    cache.reserve(2, 3, 0);
    const [a, b] = [fresh(2, 1, 0), fresh(2, 1, 5000)];
    cache.write(a, 1, 1, 0, 0, 1);
    cache.write(b, 1, 1, 0, 1, 1);
    for (let array = 0; array < layers * 2; array++) {
      expect(stored(cache, array, 0, 1, 0)).toEqual(expected(a, 1, 1, array, 1, 0));
      expect(stored(cache, array, 0, 1, 1)).toEqual(expected(b, 1, 1, array, 1, 0));
    }
  });

  it('clears a row and no other', () => {
    const cache = new KeyValueCache(tinyConfig);
    cache.reserve(2, 5, 0);
    const output = fresh(2, 5, 1);
    for (const row of [0, 1]) cache.write(output, 5, row, row, 0, 5);
    cache.clearRow(0);
    expect(cache.view(1, 1, 0, 1).every((value) => value === 0)).toBe(true);
    expectRow(cache, 1, output, 5, 1);
  });

  it('grows in steps up to the context', () => {
    expect([1, 64, 65, 193, 257, 385, 513, 1025].map((positions) => cacheLength(positions, 1200))).toEqual([
      64, 64, 128, 256, 320, 448, 640, 1216,
    ]);
  });
});
