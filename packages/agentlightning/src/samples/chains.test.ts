import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Call } from '../store/types.ts';
import { buildChains, linkTokens } from './chains.ts';
import { callOf } from './fixtures.test.support.ts';

/** Chains as lists of call ids, `id#choice` when a call has several. */
const drawn = (calls: Call[]) =>
  buildChains(calls).chains.map(({ links }) =>
    links.map(({ call, choice }) => (call.choices.length > 1 ? `${call.id}#${choice.index}` : call.id)),
  );
const origins = (calls: Call[]) => buildChains(calls).chains.map(({ origin }) => origin);

describe('buildChains', () => {
  it('joins calls whose prompt begins with the previous prompt and answer', () => {
    const calls = [
      callOf({ id: 'a', prompt: [1, 2], answers: [[3]] }),
      callOf({ id: 'b', prompt: [1, 2, 3, 4], answers: [[5, 6]] }),
      callOf({ id: 'c', prompt: [1, 2, 3, 4, 5, 6, 7], answers: [[8]] }),
    ];
    expect(drawn(calls)).toEqual([['a', 'b', 'c']]);
    expect(origins(calls)).toEqual([{ kind: 'root' }]);
  });

  it('lets interleaved sub-agents each continue their own chain', () => {
    const calls = [
      callOf({ id: 'a1', prompt: [1, 1], answers: [[10]] }),
      callOf({ id: 'b1', prompt: [2, 2], answers: [[20]] }),
      callOf({ id: 'a2', prompt: [1, 1, 10, 5], answers: [[11]] }),
      callOf({ id: 'b2', prompt: [2, 2, 20, 5], answers: [[21]] }),
      callOf({ id: 'a3', prompt: [1, 1, 10, 5, 11, 5], answers: [[12]] }),
    ];
    expect(drawn(calls)).toEqual([
      ['a1', 'a2', 'a3'],
      ['b1', 'b2'],
    ]);
  });

  it('orders by sequence, not by position', () => {
    const first = callOf({ id: 'a', prompt: [1], answers: [[2]] });
    const second = callOf({ id: 'b', prompt: [1, 2, 3], answers: [[4]] });
    expect(drawn([second, first])).toEqual([['a', 'b']]);
  });

  it('makes branches of parallel calls and retries, and continues the longest match', () => {
    const calls = [
      callOf({ id: 'a', prompt: [1], answers: [[2]] }),
      callOf({ id: 'b', prompt: [1, 2, 3], answers: [[4]] }),
      callOf({ id: 'retry of b', prompt: [1, 2, 3], answers: [[5]] }),
      callOf({ id: 'sibling of b', prompt: [1, 2, 9], answers: [[4]] }),
      callOf({ id: 'd', prompt: [1, 2, 3, 5, 6], answers: [[7]] }),
    ];
    expect(drawn(calls)).toEqual([['a', 'b'], ['retry of b', 'd'], ['sibling of b']]);
    expect(origins(calls)).toEqual([
      { kind: 'root' },
      { kind: 'branch', callId: 'a' },
      { kind: 'branch', callId: 'a' },
    ]);
  });

  it('gives equal parallel conversations one continuation each', () => {
    const calls = [
      callOf({ id: 'a', prompt: [1], answers: [[2]] }),
      callOf({ id: 'b', prompt: [1], answers: [[2]] }),
      callOf({ id: 'c', prompt: [1, 2, 3], answers: [[4]] }),
      callOf({ id: 'd', prompt: [1, 2, 3], answers: [[4]] }),
    ];
    expect(drawn(calls)).toEqual([
      ['a', 'c'],
      ['b', 'd'],
    ]);
  });

  it('makes each choice a leaf of its own, which later calls may continue', () => {
    const calls = [
      callOf({ id: 'a', prompt: [1], answers: [[2], [3], [4]] }),
      callOf({ id: 'b', prompt: [1, 3, 9], answers: [[5]] }),
    ];
    expect(drawn(calls)).toEqual([['a#0'], ['a#1', 'b'], ['a#2']]);
  });

  it('keeps agents and policies apart', () => {
    const calls = [
      callOf({ id: 'a', prompt: [1], answers: [[2]] }, { agentName: 'planner' }),
      callOf({ id: 'b', prompt: [1, 2, 3], answers: [[4]] }, { agentName: 'worker' }),
      callOf({ id: 'c', prompt: [1, 2, 3], answers: [[4]] }, { agentName: 'planner', policy: 'other' }),
    ];
    expect(drawn(calls)).toEqual([['a'], ['b'], ['c']]);
  });

  it('notes where a prompt stops agreeing with what came before', () => {
    const calls = [
      callOf({ id: 'a', prompt: [1, 2], answers: [[3, 4]] }),
      callOf({ id: 'b', prompt: [1, 2, 3, 4, 5, 6], answers: [[7]] }),
      callOf({ id: 'answer rewritten', prompt: [1, 2, 3, 9, 5], answers: [[7]] }),
      callOf({ id: 'history edited', prompt: [1, 2, 3, 4, 5, 8], answers: [[7]] }),
      callOf({ id: 'compacted', prompt: [1, 8], answers: [[7]] }),
    ];
    expect(drawn(calls)).toEqual([['a', 'b'], ['answer rewritten'], ['history edited'], ['compacted']]);
    expect(origins(calls).slice(1)).toEqual([
      { kind: 'broken', break: { kind: 'other', callId: 'b', firstDifference: 3, inAnswer: true } },
      { kind: 'branch', callId: 'a' },
      { kind: 'broken', break: { kind: 'other', callId: 'history edited', firstDifference: 1, inAnswer: false } },
    ]);
  });

  it('puts calls without ids or answer aside', () => {
    const calls = [
      callOf({ id: 'a', prompt: null, answers: [[2]] }),
      callOf({ id: 'b', prompt: [1], answers: [] }),
      callOf({ id: 'c', prompt: [1], answers: [[2]] }),
    ];
    const { chains, unchained } = buildChains(calls);
    expect(chains.map(({ links }) => links.length)).toEqual([1]);
    expect(unchained.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('places every answer once, and each prompt begins with the one before and its answer', () => {
    const tokens = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 4 });
    const sketch = fc.record({
      prompt: fc.option(tokens),
      answers: fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }), { maxLength: 3 }),
      agentName: fc.constantFrom('planner', null),
    });
    fc.assert(
      fc.property(fc.array(sketch, { maxLength: 12 }), (sketches) => {
        const calls = sketches.map(({ prompt, answers, agentName }, at) =>
          callOf({ id: `${at}`, prompt, answers }, { agentName }),
        );
        const { chains, unchained } = buildChains(calls);
        const placed = chains.flatMap(({ links }) => links.map(({ call, choice }) => `${call.id}#${choice.index}`));
        const expected = calls
          .filter((call) => !unchained.includes(call))
          .flatMap(({ id, choices }) => choices.map(({ index }) => `${id}#${index}`));
        expect([...placed].sort()).toEqual([...expected].sort());
        expect(unchained.every(({ promptIds, choices }) => promptIds === null || choices.length === 0)).toBe(true);
        for (const { links } of chains) {
          for (const [at, link] of links.slice(1).entries()) {
            const before = linkTokens(links[at]!);
            expect(link.promptIds.subarray(0, before.length)).toEqual(before);
          }
        }
      }),
    );
  });

  it('reads a long attempt once: a thousand calls of one conversation stay cheap', () => {
    // A comparison of each prompt with each earlier chain would read 1000³ tokens here.
    const conversation = Array.from({ length: 3000 }, (_, token) => token % 7);
    const calls = Array.from({ length: 1000 }, (_, at) =>
      callOf({
        id: `${at}`,
        prompt: conversation.slice(0, 3 * at + 1),
        answers: [conversation.slice(3 * at + 1, 3 * at + 3)],
      }),
    );
    expect(buildChains(calls).chains).toHaveLength(1);
  });
});
