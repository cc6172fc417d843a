import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RadixTree } from './radix-tree.ts';

const shared = (a: readonly number[], b: readonly number[]): number => {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length += 1;
  return length;
};

describe('RadixTree', () => {
  it('finds what a plain comparison with every sequence finds', () => {
    const tokens = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 7 });
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 12 }), tokens, (sequences, query) => {
        const tree = new RadixTree();
        for (const [key, sequence] of sequences.entries()) tree.insert(Int32Array.from(sequence), key);
        const match = tree.match(Int32Array.from(query));

        const most = Math.max(0, ...sequences.map((sequence) => shared(sequence, query)));
        expect(match.shared).toBe(most);
        if (sequences.length === 0) expect(match.nearest).toBeNull();
        else expect(shared(sequences[match.nearest!]!, query)).toBe(most);

        const prefixes = sequences.filter((sequence) => shared(sequence, query) === sequence.length);
        const longest = Math.max(-1, ...prefixes.map(({ length }) => length));
        const keys = [...sequences.keys()].filter(
          (key) => sequences[key]!.length === longest && prefixes.includes(sequences[key]!),
        );
        expect(match.continues).toEqual(keys);
      }),
    );
  });
});
