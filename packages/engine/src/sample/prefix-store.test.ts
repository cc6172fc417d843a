import { describe, expect, it } from 'vitest';
import { PrefixStore } from './prefix-store.ts';

const ids = (...values: number[]) => Int32Array.from(values);
const piece = (value: number) => ({ bytes: 16, values: () => new Float32Array(4).fill(value) });

describe('PrefixStore', () => {
  it('knows whole pieces that begin a prompt, and leaves its last token to be read', () => {
    const store = new PrefixStore({ pieceTokens: 2, maxBytes: 100 });
    store.put(ids(1, 2, 3, 4, 5), 2, piece(1));
    store.put(ids(1, 2, 3, 4, 5), 4, piece(2));
    expect(store.known(ids(1, 2, 3, 4, 9))).toBe(4);
    expect(store.known(ids(1, 2, 3, 4))).toBe(2);
    expect(store.known(ids(1, 2, 4, 4, 5))).toBe(2);
    expect(store.known(ids(2, 2, 3, 4, 5))).toBe(0); // the same piece behind other tokens is another one
    expect(store.known(ids(1, 2))).toBe(0);
    expect(store.take(ids(1, 2, 3, 4, 9), 4).map(([first]) => first)).toEqual([1, 2]);
  });

  it('forgets what was used longest ago, and all of it with new weights', () => {
    const store = new PrefixStore({ pieceTokens: 1, maxBytes: 32 });
    store.put(ids(1, 0), 1, piece(1));
    store.put(ids(2, 0), 1, piece(2));
    store.take(ids(1, 0), 1);
    store.put(ids(3, 0), 1, piece(3));
    expect([1, 2, 3].map((first) => store.known(ids(first, 0)))).toEqual([1, 0, 1]);
    store.clear();
    expect([1, 2, 3].map((first) => store.known(ids(first, 0)))).toEqual([0, 0, 0]);
  });

  it('does not make what it knows or could never keep', () => {
    const store = new PrefixStore({ pieceTokens: 1, maxBytes: 16 });
    const never = () => {
      throw new Error('made');
    };
    store.put(ids(1, 0), 1, piece(1));
    store.put(ids(1, 0), 1, { bytes: 16, values: never });
    store.put(ids(2, 0), 1, { bytes: 17, values: never });
    expect(store.known(ids(1, 0))).toBe(1);
  });
});
