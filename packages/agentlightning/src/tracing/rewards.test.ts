import { describe, expect, it } from 'vitest';
import type { Span } from '../store/types.ts';
import { rewardsOf } from './rewards.ts';
import { spanOf } from './span.test.support.ts';

function evaluation(attributes: Span['attributes']): Span['events'][number] {
  return { name: 'gen_ai.evaluation.result', time: 1, attributes };
}

const values = (change: Partial<Span>) => rewardsOf(spanOf(change)).map(({ name, value }) => [name, value]);

describe('rewardsOf', () => {
  it('reads the standard event, in order, and leaves labels alone', () => {
    const events = [
      evaluation({ 'gen_ai.evaluation.name': 'style', 'gen_ai.evaluation.score.value': 0.25 }),
      evaluation({ 'gen_ai.evaluation.name': 'verdict', 'gen_ai.evaluation.score.label': 'pass' }),
      evaluation({ 'gen_ai.evaluation.score.value': 0, 'agentlightning.reward.agent_name': 'writer' }),
      { name: 'other', time: 1, attributes: { 'gen_ai.evaluation.score.value': 9 } },
    ];
    expect(rewardsOf(spanOf({ events }))).toEqual([
      { name: 'style', value: 0.25, agentName: null, callId: null },
      { name: 'reward', value: 0, agentName: 'writer', callId: null },
    ]);
  });

  it("reads the forms of the Python project's 0.x", () => {
    const numbered = {
      'agentlightning.reward.0.name': 'correct',
      'agentlightning.reward.0.value': 1,
      'agentlightning.reward.1.value': 0.5,
    };
    expect(values({ name: 'agentlightning.annotation', attributes: numbered })).toEqual([
      ['correct', 1],
      ['reward', 0.5],
    ]);
    expect(values({ name: 'agentlightning.reward', attributes: { reward: 0.75 } })).toEqual([['reward', 0.75]]);
    expect(values({ attributes: { 'agentlightning.reward': -1 } })).toEqual([['reward', -1]]);
    expect(values({ attributes: { reward: 1 } })).toEqual([]);
  });

  it('counts a number once that a span reports in two forms', () => {
    const events = [evaluation({ 'gen_ai.evaluation.name': 'a', 'gen_ai.evaluation.score.value': 1 })];
    expect(values({ events, attributes: { 'agentlightning.reward.0.value': 1 } })).toEqual([['a', 1]]);
  });

  it.each(['NaN', true, null, '1', [1]])('refuses the value %j, naming the reward', (value) => {
    const attributes = { 'agentlightning.reward.0.name': 'style', 'agentlightning.reward.0.value': value };
    expect(() => rewardsOf(spanOf({ attributes }))).toThrow('reward "style" is');
  });

  it.each(['', 'x'.repeat(201), 'a\0', '\ud800', 7])('refuses the agent name %j', (name) => {
    const attributes = { 'agentlightning.reward': 1, 'agentlightning.reward.agent_name': name };
    expect(() => rewardsOf(spanOf({ attributes }))).toThrow('a text of 1 to 200 characters');
  });
});
