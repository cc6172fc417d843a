import { describe, expect, it } from 'vitest';
import type { Reward } from '../store/types.ts';
import { countedReward, parseRewardLine } from './rewards.ts';

const reward = (value: number | null, source: Reward['source'], change: Partial<Reward> = {}): Reward => ({
  attemptId: 'a',
  name: 'reward',
  agentName: null,
  callId: null,
  createdAt: 0,
  value,
  source,
  ...change,
});

describe('countedReward', () => {
  it.each<[string, Reward[], number | null]>([
    ['none', [], null],
    ['the grader before the agent, whoever came last', [reward(0, 'grader'), reward(1, 'agent')], 0],
    ['the agent before standard output', [reward(0.5, 'stdout'), reward(1, 'agent')], 1],
    ['the last word of one source', [reward(0, 'agent'), reward(1, 'agent')], 1],
    ['a grader that knows none, whatever the agent claims', [reward(1, 'agent'), reward(null, 'grader')], null],
    [
      'not that of a single call or sub-agent',
      [reward(1, 'agent', { callId: 'c' }), reward(1, 'agent', { agentName: 'n' })],
      null,
    ],
    [
      'one by another name only when there is no other',
      [reward(1, 'agent'), reward(9, 'agent', { name: 'length' })],
      1,
    ],
    ['one by another name', [reward(9, 'agent', { name: 'length' })], 9],
  ])('%s', (_, rewards, expected) => {
    expect(countedReward(rewards)).toBe(expected);
  });
});

it.each([
  ['0.5', 0.5],
  [' -1e-3 ', -0.001],
  ['0', 0],
  ['reward: 1', null],
  ['NaN', null],
  ['Infinity', null],
  ['', null],
  [null, null],
])('parseRewardLine(%j) is %j', (line, expected) => {
  expect(parseRewardLine(line)).toBe(expected);
});
