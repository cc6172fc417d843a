import { describe, expect, it } from 'vitest';
import type { Reward } from '../store/types.ts';
import { gradeEpisode } from './episodes.ts';
import { attemptOf, episodeOf, rewardOf } from './fixtures.test.support.ts';

const grade = (rewards: Reward[], rollout: Parameters<typeof episodeOf>[2] = {}) =>
  gradeEpisode(episodeOf('one', [attemptOf('one/1', [], rewards)], rollout));

describe('gradeEpisode', () => {
  it('takes the most trusted source that gave any reward', () => {
    const rewards = [
      rewardOf(1, { source: 'stdout' }),
      rewardOf(0.25, { source: 'grader' }),
      rewardOf(0.5, { source: 'agent' }),
    ];
    expect(grade(rewards)).toEqual({ reward: 0.25 });
    expect(grade(rewards.filter(({ source }) => source !== 'grader'))).toEqual({ reward: 0.5 });
  });

  it('does not ask a less trusted source when the trusted one said null, and never makes 0 of it', () => {
    expect(grade([rewardOf(null), rewardOf(1, { source: 'agent' })])).toEqual({ ungraded: 'no_reward' });
  });

  it('prefers the name `reward`, then the last one, and leaves those of agents and calls alone', () => {
    expect(grade([rewardOf(1), rewardOf(2, { name: 'length' })])).toEqual({ reward: 1 });
    expect(grade([rewardOf(1, { name: 'style' }), rewardOf(2, { name: 'length' })])).toEqual({ reward: 2 });
    expect(grade([rewardOf(1, { agentName: 'worker' }), rewardOf(1, { callId: 'c' })])).toEqual({
      ungraded: 'no_reward',
    });
  });

  it('grades failures of the agent and masks all others', () => {
    const failure = (kind: 'agent' | 'infrastructure', code: string) =>
      ({ state: 'failed', failure: { class: kind, code, message: '' } }) as const;
    expect(grade([rewardOf(0)], failure('agent', 'exit_code'))).toEqual({ reward: 0 });
    expect(grade([], failure('agent', 'run_timeout'))).toEqual({ ungraded: 'run_timeout' });
    expect(grade([rewardOf(0)], failure('infrastructure', 'grader_crash'))).toEqual({ ungraded: 'grader_crash' });
    expect(grade([rewardOf(1)], { state: 'cancelled' })).toEqual({ ungraded: 'cancelled' });
    expect(grade([rewardOf(1)], { superseded: true })).toEqual({ ungraded: 'superseded' });
    expect(grade([rewardOf(Number.NaN)])).toEqual({ ungraded: 'reward_not_finite' });
    expect(gradeEpisode(episodeOf('none', []))).toEqual({ ungraded: 'no_reward' });
  });
});
