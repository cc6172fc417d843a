import { expect, it } from 'vitest';
import type { Call } from '../store/types.ts';
import { buildChains, linkTokens } from './chains.ts';
import { attemptOf, callOf, episodeOf, rewardOf } from './fixtures.test.support.ts';
import { buildSamples } from './samples.ts';

/**
 * An attempt of forty calls. The lead asks two sub-agents, `searcher` (s) and `reader` (r), whose calls interleave with its own
 * and with each other's; after its ninth call it compacts its history: the system prompt stays, the rest becomes a summary.
 *
 *     lead      0 ─ 3 ─ 6 ─ 9 ─ 12 ─ 15 ─ 18 ─ 21 ─ 24
 *               ╳ compaction: the prompt differs after the system prompt
 *               27 ─ 30 ─ 33 ─ 36 ─ 39
 *     searcher  1 ─ 4 ─ 7 ─ 10 ─ 13 ─ 16 ─ 19 ─ 22 ─ 25 ─ 28 ─ 31 ─ 34 ─ 37
 *     reader    2 ─ 5 ─ 8 ─ 11 ─ 14 ─ 17 ─ 20 ─ 23 ─ 26 ─ 29 ─ 32 ─ 35 ─ 38
 *
 * The sub-agents have no names of their own: only the tokens tell them apart.
 */
const every3rd = (from: number, to: number): number[] =>
  Array.from({ length: Math.floor((to - from) / 3) + 1 }, (_, at) => from + 3 * at);
const drawing = [every3rd(0, 24), every3rd(1, 37), every3rd(2, 38), every3rd(27, 39)];

const system = [1, 2, 3, 4];
/** All share the system prompt's first two tokens, as agents of one framework do. */
const beginnings = [system, [1, 2, 50, 51], [1, 2, 60]];
const summary = [70, 71, 72];

function fortyCalls(): Call[] {
  const histories = beginnings.map((beginning) => [...beginning]);
  return Array.from({ length: 40 }, (_, at) => {
    const who = at % 3;
    if (at === 27) histories[0] = [...system, ...summary];
    const answer = [100 + at, 9];
    const call = callOf({ id: `${at}`, prompt: histories[who]!, answers: [answer] }, { sequence: at, startedAt: at });
    histories[who] = [...histories[who]!, ...answer, 200 + at]; // what a tool or another agent said
    return call;
  });
}

it('draws an attempt of forty calls, two interleaved sub-agents and one compaction exactly', () => {
  const { chains, unchained } = buildChains(fortyCalls());
  expect(unchained).toEqual([]);
  expect(chains.map(({ links }) => links.map(({ call }) => call.sequence))).toEqual(drawing);
  expect(chains.map(({ origin }) => origin)).toEqual([
    { kind: 'root' },
    { kind: 'broken', break: { kind: 'other', callId: '0', firstDifference: 2, inAnswer: false } },
    { kind: 'broken', break: { kind: 'other', callId: '1', firstDifference: 2, inAnswer: false } },
    { kind: 'broken', break: expect.objectContaining({ firstDifference: system.length, inAnswer: true }) },
  ]);
  for (const { links } of chains) {
    for (const [at, { promptIds }] of links.slice(1).entries()) {
      const before = linkTokens(links[at]!);
      expect(promptIds.subarray(0, before.length)).toEqual(before);
    }
  }
});

it('trains on each of its sampled tokens once, and calls of any order give the same rows', () => {
  const rowsOf = (calls: Call[]) => {
    const episodes = [
      episodeOf('one', [attemptOf('one/1', calls, [rewardOf(1)])]),
      episodeOf('two', [attemptOf('two/1', [callOf({ id: 'x', prompt: [1], answers: [[2]] })], [rewardOf(0)])]),
    ];
    const options = { policy: 'policy', policyVersion: 0, maxTokens: 1000, scaleByStd: false };
    return buildSamples(episodes, options).samples.filter(({ rolloutId }) => rolloutId === 'one');
  };
  const rows = rowsOf(fortyCalls());
  expect(rows.map(({ callIds }) => callIds.map(Number))).toEqual(drawing);
  const trained = rows.flatMap(({ tokenIds, mask }) => [...tokenIds].filter((_, at) => mask[at] === 1));
  const sampled = Array.from({ length: 40 }, (_, at) => [100 + at, 9]).flat();
  expect([...trained].sort()).toEqual([...sampled].sort());
  expect(rowsOf(fortyCalls().toReversed()).map(({ tokenIds }) => tokenIds)).toEqual(rows.map((row) => row.tokenIds));
});
