import { describe, expect, it } from 'vitest';
import { type ItemLists, PrefixTree } from './prefix-tree.ts';

const noItems: ItemLists = new Map();

function treeOf(calls: { id: string; prompt: number[]; answer?: number[]; items?: ItemLists }[]): PrefixTree {
  const tree = new PrefixTree();
  for (const { id, prompt, answer = [], items = noItems } of calls) {
    const shared = tree.match(Int32Array.from(prompt), items);
    const own = new Map([...items].map(([field, list]) => [field, list.slice(shared.sharedItems.get(field) ?? 0)]));
    tree.add({ ...shared, id, tokens: Int32Array.from([...prompt.slice(shared.sharedTokens), ...answer]), items: own });
  }
  return tree;
}

describe('prefix tree', () => {
  it('continues a call through its answer, and branches within prompt or answer', () => {
    const tree = treeOf([
      { id: 'a', prompt: [1, 2], answer: [3, 4] },
      { id: 'b', prompt: [1, 2, 3, 4, 5], answer: [6] },
    ]);
    const match = (...ids: number[]) => tree.match(Int32Array.from(ids), noItems);
    expect(match(1, 2, 3, 4, 5, 6, 7)).toMatchObject({ parentId: 'b', sharedTokens: 6 });
    expect(match(1, 2, 3, 9)).toMatchObject({ parentId: 'b', sharedTokens: 3 });
    expect(match(1)).toMatchObject({ parentId: 'b', sharedTokens: 1 });
    expect(match(9, 2)).toEqual({ parentId: null, sharedTokens: 0, sharedItems: new Map() });
    expect(match()).toMatchObject({ parentId: null });
  });

  it('tells interleaved conversations apart', () => {
    const tree = treeOf([
      { id: 'a1', prompt: [1, 2], answer: [3] },
      { id: 'b1', prompt: [1, 8], answer: [9] },
      { id: 'a2', prompt: [1, 2, 3, 4], answer: [5] },
    ]);
    expect(tree.match(Int32Array.of(1, 8, 9, 7), noItems)).toMatchObject({ parentId: 'b1', sharedTokens: 3 });
    expect(tree.match(Int32Array.of(1, 2, 3, 4, 5, 6), noItems)).toMatchObject({ parentId: 'a2', sharedTokens: 5 });
  });

  it('weighs tokens and request items by their bytes, and takes the latest of equals', () => {
    const long = new Map([['messages', ['"a long first message"']]]);
    const tree = treeOf([
      { id: 'tokens', prompt: [1, 2] },
      { id: 'items', prompt: [7], items: long },
      { id: 'again', prompt: [7], items: long },
    ]);
    const shared = tree.match(Int32Array.of(1, 2), long);
    expect(shared).toEqual({ parentId: 'again', sharedTokens: 0, sharedItems: new Map([['messages', 1]]) });
    expect(tree.match(null, long)).toMatchObject({ parentId: 'again' });
  });
});
