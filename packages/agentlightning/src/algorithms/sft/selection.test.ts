import { describe, expect, it } from 'vitest';
import { attemptOf, choiceOf, episodeOf, rewardOf } from '../../samples/fixtures.test.support.ts';
import type { Episode } from '../../samples/index.ts';
import { rolloutOf, textCall, tokenCall } from './episodes.test.support.ts';
import { countExcluded, exclusionReasons } from './exclusions.ts';
import { type SelectionOptions, selectAnswers } from './selection.ts';

const everything: SelectionOptions = { minReward: null, bestPerGroup: null, agents: null, models: null };
const reasonsOf = (episodes: Episode[], options: Partial<SelectionOptions> = {}) =>
  Object.fromEntries(
    selectAnswers(episodes, { ...everything, ...options }).verdicts.map(({ callId, reason }) => [callId, reason]),
  );

describe('selectAnswers', () => {
  it('takes what is graded, whatever weights and temperature it was sampled with', () => {
    const sampling = { temperature: 0.2, topP: 0.9, topK: 5, maxTokens: 4, stop: [], seed: null };
    const call = tokenCall('a', [1], [2], { sampling, untrainable: 'missing_log_probs' });
    expect(reasonsOf([rolloutOf('r', 0, [call])])).toEqual({ a: null });
  });

  it('filters by reward, and an infrastructure failure is no reward of 0', () => {
    const lost = { failure: { class: 'infrastructure', code: 'worker_lost', message: '' }, state: 'failed' } as const;
    const episodes = [
      rolloutOf('good', 1, [tokenCall('good', [1], [2])]),
      rolloutOf('bad', 0.4, [tokenCall('bad', [1], [3])]),
      rolloutOf('ungraded', null, [tokenCall('ungraded', [1], [4])]),
      rolloutOf('lost', 1, [tokenCall('lost', [1], [5])], lost),
    ];
    expect(reasonsOf(episodes, { minReward: 0.5 })).toEqual({
      good: null,
      bad: 'low_reward',
      ungraded: 'no_reward',
      lost: 'infrastructure_failure',
    });
  });

  it('takes the best of each group, of equal ones the first', () => {
    const rewards = { a: 0.5, b: 0.9, c: 0.9, d: 0.1 };
    const episodes = Object.entries(rewards).map(([id, reward]) => rolloutOf(id, reward, [tokenCall(id, [1], [2])]));
    const other = rolloutOf('other', 0, [tokenCall('other', [1], [2])], { groupId: 'another group' });
    expect(reasonsOf([...episodes, other], { bestPerGroup: 1 })).toEqual({
      ...{ a: 'not_best', b: null, c: 'not_best', d: 'not_best', other: null },
    });
    expect(reasonsOf(episodes, { bestPerGroup: 3, minReward: 0.6 })).toMatchObject({ a: 'low_reward', c: null });
  });

  it('filters by agent and by model', () => {
    const calls = [
      tokenCall('planner', [1], [2], { agentName: 'planner' }),
      tokenCall('worker', [1], [2], { agentName: 'worker' }),
      tokenCall('nameless', [1], [2]),
      textCall('taught', [{ role: 'user', content: 'x' }], { content: 'y' }, { agentName: 'planner' }),
    ];
    const episodes = [rolloutOf('r', 1, calls)];
    expect(reasonsOf(episodes, { agents: ['planner'], models: ['policy'] })).toEqual({
      ...{ planner: null, worker: 'other_agent', nameless: 'other_agent', taught: 'other_model' },
    });
    expect(reasonsOf(episodes, { models: ['teacher'] })).toMatchObject({ taught: null, planner: 'other_model' });
  });

  it('leaves out what is no whole answer', () => {
    const finish = (finishReason: 'length' | 'stop', tokens: number[]) => ({
      choices: [choiceOf(tokens, { finishReason })],
    });
    const calls = [
      tokenCall('cut', [1], [2], finish('length', [2])),
      tokenCall('empty', [1], [], finish('stop', [])),
      tokenCall('broken', [1], [2], { untrainable: 'broken_stream' }),
      tokenCall('doubtful', [1], [2], { untrainable: 'length_mismatch' }),
      tokenCall('late', [1], [2], { late: true }),
      tokenCall('one of two', [1], [], {
        choices: [choiceOf([2], { finishReason: 'length' }), choiceOf([3], { index: 1 })],
      }),
    ];
    expect(reasonsOf([rolloutOf('r', 1, calls)])).toEqual({
      ...{ cut: 'cut_off', empty: 'empty_answer', broken: 'broken_stream', doubtful: 'length_mismatch' },
      ...{ late: 'late', 'one of two': null },
    });
    const { answers } = selectAnswers([rolloutOf('r', 1, calls)], everything);
    expect(answers.map(({ call, choice }) => [call.id, choice.index])).toEqual([['one of two', 1]]);
  });

  it('counts every call of every attempt once', () => {
    const attempts = [
      attemptOf('r/1', [tokenCall('early', [1], [2])], [rewardOf(1)], { state: 'failed' }),
      attemptOf('r/2', [tokenCall('x', [1], [2]), tokenCall('y', [1, 2, 3], [4])], [rewardOf(1)]),
    ];
    const { verdicts } = selectAnswers(
      [
        episodeOf('r', attempts),
        rolloutOf('s', 1, [tokenCall('gone', [1], [2])], { superseded: true }),
        rolloutOf('c', null, [tokenCall('stopped', [1], [2])], { state: 'cancelled' }),
      ],
      everything,
    );
    expect(verdicts.map(({ callId }) => callId)).toEqual(['early', 'x', 'y', 'gone', 'stopped']);
    expect(countExcluded(verdicts)).toEqual({ infrastructure_failure: 1, superseded: 1, rollout_cancelled: 1 });
    for (const reason of Object.keys(countExcluded(verdicts))) expect(exclusionReasons).toHaveProperty(reason);
  });
});
