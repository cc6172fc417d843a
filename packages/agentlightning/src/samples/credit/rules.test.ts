import { describe, expect, it } from 'vitest';
import type { Call, Reward } from '../../store/types.ts';
import type { Episode } from '../episodes.ts';
import { attemptOf, callOf, episodeOf, rewardOf } from '../fixtures.test.support.ts';
import { buildSamples, type SampleOptions } from '../samples.ts';
import { type CreditRuleName, type CreditSettings, creditAssigner } from './rules.ts';

const settings: CreditSettings = { discount: 1, outcomeWeight: 1, stepWeight: 1, dimensions: {}, state: 'prompt' };
const assigner = (rule: CreditRuleName, more: Partial<CreditSettings> = {}) =>
  creditAssigner({ rule, ...settings, ...more });
const call = (id: string, more: Partial<Call> = {}, prompt = [1]) =>
  callOf({ id, prompt, answers: [[2]] }, { agentName: 'worker', ...more });
const step = (callId: string, value: number): Reward => rewardOf(value, { callId, source: 'agent' });

/** Values alone; a number is the attempt's reward. */
const valuesOf = (rule: CreditRuleName, calls: Call[], rewards: Reward[], more: Partial<CreditSettings> = {}) =>
  assigner(
    rule,
    more,
  )({ reward: 1, calls, rewards }).map((credit) =>
    typeof credit === 'number' ? credit : credit.map(({ value, key }) => [key, value]),
  );

/** Advantage of each call, by id, with R − mean. */
function advantages(episodes: Episode[], more: Partial<SampleOptions>): Record<string, number> {
  const options = { policy: 'policy', policyVersion: 0, maxTokens: 100, scaleByStd: false, ...more };
  const { samples } = buildSamples(episodes, options);
  return Object.fromEntries(samples.map(({ callIds, advantages: values }) => [callIds[0]!, values.at(-1)!]));
}
const episode = (id: string, calls: Call[], rewards: Reward[]) => episodeOf(id, [attemptOf(`${id}/1`, calls, rewards)]);

describe('credit rules', () => {
  const calls = [call('a'), call('b', { agentName: 'critic' }), call('c')];

  it('give the reward to every call, or to the last one of a policy alone', () => {
    expect(valuesOf('identical', calls, [])).toEqual([1, 1, 1]);
    expect(valuesOf('last-call', [...calls, call('d', { policy: null })], [])).toEqual([[], [], 1, []]);
  });

  it('discount by the calls that follow, and compare turns of the same agent', () => {
    const expected = [[['turn 0', 0.25]], [['turn 0', 0.5]], [['turn 1', 1]]];
    expect(valuesOf('discounted', calls, [], { discount: 0.5 })).toEqual(expected);
  });

  it('return to each call its own step rewards and those that follow', () => {
    const rewards = [step('a', 2), step('a', 1), step('b', 4), rewardOf(null, { callId: 'c' }), rewardOf(1)];
    const expected = [[['turn 0', 5.125]], [['turn 0', 4.25]], [['turn 1', 0.5]]];
    expect(valuesOf('steps', calls, rewards, { discount: 0.5, outcomeWeight: 0.5 })).toEqual(expected);
    expect(valuesOf('steps', [], [])).toEqual([]);
  });

  it('give each agent its own reward, from the most trusted source, and no credit without one', () => {
    const rewards = [rewardOf(3, { agentName: 'worker' }), rewardOf(9, { agentName: 'worker', source: 'stdout' })];
    expect(valuesOf('agents', calls, rewards)).toEqual([[['', 3]], [], [['', 3]]]);
  });

  it('take named dimensions one by one, without those that are missing', () => {
    const rewards = [rewardOf(0.5, { name: 'format' }), rewardOf(null, { name: 'style' }), rewardOf(1)];
    const dimensions = { format: 2, style: 1, length: 1 };
    expect(valuesOf('dimensions', [call('a')], rewards, { dimensions })).toEqual([[['format', 0.5]]]);
  });

  it('know states by the prompt or by the last message', () => {
    const request = { messages: [{ role: 'user', content: 'room 3' }] };
    const both = [call('a', { request }, [1, 2]), call('b', { request }, [1, 9])];
    const keys = (state: CreditSettings['state']) =>
      assigner('same-state', { state })({ reward: 1, calls: both, rewards: [] }).map((credit) =>
        typeof credit === 'number' ? '' : credit[1]!.key,
      );
    expect(new Set(keys('prompt')).size).toBe(2);
    expect(new Set(keys('last-message')).size).toBe(1);
  });
});

describe('credit becomes advantages', () => {
  it('within the same task and agent only', () => {
    const of = (id: string, worker: number, critic: number) =>
      episode(
        id,
        [call(`${id} worker`), call(`${id} critic`, { agentName: 'critic' })],
        [rewardOf(0), rewardOf(worker, { agentName: 'worker' }), rewardOf(critic, { agentName: 'critic' })],
      );
    expect(advantages([of('one', 1, 10), of('two', 0, 20)], { credit: assigner('agents') })).toEqual({
      'one worker': 0.5,
      'one critic': -5,
      'two worker': -0.5,
      'two critic': 5,
    });
  });

  it('turn by turn: a good first step in a bad rollout is praised', () => {
    const of = (id: string, first: number, second: number) =>
      episode(
        id,
        [call(`${id} 1`), call(`${id} 2`, {}, [9])],
        [rewardOf(first + second), step(`${id} 1`, first), step(`${id} 2`, second)],
      );
    const credit = assigner('steps', { discount: 0, outcomeWeight: 0 });
    expect(advantages([of('one', 1, 0), of('two', 0, 2)], { credit })).toEqual({
      'one 1': 0.5,
      'one 2': -1,
      'two 1': -0.5,
      'two 2': 1,
    });
  });

  it('state by state, beside the whole episode (GiGPO, eq. 8)', () => {
    const episodes = [
      episode('one', [call('a', {}, [1]), call('b', {}, [2])], [rewardOf(1)]),
      episode('two', [call('c', {}, [1]), call('d', {}, [3])], [rewardOf(0)]),
    ];
    const credit = assigner('same-state', { discount: 0.5, stepWeight: 2 });
    // Episode ±½; in the shared state the returns ½ and 0 lie ±¼ from their mean, twice; the others stand alone.
    expect(advantages(episodes, { credit })).toEqual({ a: 1, b: 0.5, c: -1, d: -0.5 });
  });

  it('dimension by dimension, each scaled by itself (GDPO)', () => {
    const of = (id: string, correct: number, length: number) =>
      episode(id, [call(id)], [rewardOf(correct), rewardOf(length, { name: 'length' })]);
    const found = advantages([of('one', 1, 0), of('two', 0, 1000)], {
      credit: assigner('dimensions', { dimensions: { reward: 2, length: 1 } }),
      scaleByStd: true,
    });
    expect(found.one).toBeCloseTo(Math.SQRT1_2, 5);
    expect(found.two).toBeCloseTo(-Math.SQRT1_2, 5);
  });

  it('and a call without credit, or with one that is no number, is dropped and shifts nothing', () => {
    const episodes = [
      episode('one', [call('a')], [rewardOf(1)]),
      episode('two', [call('b')], [rewardOf(0)]),
      episode('bad', [call('x'), call('y', {}, [7])], [rewardOf(0)]),
    ];
    const { outcomes, samples } = buildSamples(episodes, {
      policy: 'policy',
      policyVersion: 0,
      maxTokens: 9,
      scaleByStd: false,
      estimator: 'rloo',
      credit: ({ reward, calls }) =>
        calls.map(({ id }) => {
          if (id === 'x') return Number.NaN;
          return id === 'y' ? [] : [{ value: reward, key: '', weight: 1, members: 'rollouts' }];
        }),
    });
    expect(outcomes.map(({ reason }) => reason)).toEqual([null, null, 'no_credit', 'no_credit']);
    expect(samples.map((sample) => sample.advantages.at(-1))).toEqual([1, -1]);
  });
});
