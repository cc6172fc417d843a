import { describe, expect, it } from 'vitest';
import type { Episode } from '../../samples/index.ts';
import { buildConversations } from './conversations.ts';
import { rolloutOf, textCall, tokenCall } from './episodes.test.support.ts';
import { pairRows, pairVerdicts, promptOfConversation } from './preferences.ts';
import { selectAnswers } from './selection.ts';

const all = { minReward: null, bestPerGroup: null, agents: null, models: null };
const built = (episodes: Episode[], options = all) => buildConversations(selectAnswers(episodes, options), new Set());
const ask = (content: string) => ({ role: 'user', content });
const say = (content: string) => ({ role: 'assistant', content });
const said = (messages: { content: unknown }[]) => messages.map(({ content }) => content);

describe('buildConversations', () => {
  it('joins the calls of a conversation, and learns the answers alone', () => {
    const shown = [ask('one'), say('an example'), ask('two')];
    const calls = [
      textCall('a', shown, say('A')),
      textCall('b', [...shown, say('A'), ask('three')], say('B')),
      textCall('c', [ask('else')], say('C')),
    ];
    const { conversations, verdicts } = built([rolloutOf('r', 1, calls)]);
    expect(conversations.map(({ messages, trained, callIds }) => [said(messages), trained, callIds])).toEqual([
      [
        ['one', 'an example', 'two', 'A', 'three', 'B'],
        [3, 5],
        ['a', 'b'],
      ],
      [['else', 'C'], [1], ['c']],
    ]);
    expect(verdicts.every(({ reason }) => reason === null)).toBe(true);
  });

  it('leaves an answer that is not selected as context', () => {
    const calls = [
      textCall('a', [ask('one')], say('A')),
      textCall('b', [ask('one'), say('A'), ask('two')], say('B'), { model: 'other' }),
      textCall('c', [ask('one'), say('A'), ask('two'), say('B'), ask('three')], say('C')),
    ];
    const { conversations } = built([rolloutOf('r', 1, calls)], { ...all, models: ['teacher'] as never });
    expect(conversations.map(({ messages, trained }) => [said(messages), trained])).toEqual([
      [
        ['one', 'A', 'two', 'B', 'three', 'C'],
        [1, 5],
      ],
    ]);
  });

  it('keeps agents, attempts and other tools apart, and equal rows once', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const request = { messages: [ask('one'), say('A'), ask('two')], tools };
    const calls = [
      textCall('a', [ask('one')], say('A'), { agentName: 'x' }),
      textCall('b', [ask('one'), say('A'), ask('two')], say('B'), { agentName: 'y' }),
      textCall('c', [], say('B'), { agentName: 'x', request }),
    ];
    const again = rolloutOf('s', 1, [textCall('again', [ask('one')], say('A'))]);
    const { conversations, verdicts } = built([rolloutOf('r', 1, calls), again]);
    expect(conversations.map(({ callIds }) => callIds)).toEqual([['a'], ['b'], ['c']]);
    expect(verdicts.at(-1)).toEqual({ callId: 'again', rolloutId: 's', reason: 'duplicate' });
  });

  it('takes rows for equal that differ in the ids of tool calls alone', () => {
    const called = (id: string) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
    });
    const turns = (id: string) => [ask('one'), called(id), { role: 'tool', tool_call_id: id, content: 'ok' }];
    const calls = ['c1', 'c2'].map((id) => textCall(id, turns(id), say('A')));
    expect(built(calls.map((call) => rolloutOf(call.id, 1, [call]))).conversations).toHaveLength(1);
  });

  it('says so where there are no messages', () => {
    const { verdicts } = built([rolloutOf('r', 1, [tokenCall('a', [1], [2])])]);
    expect(verdicts.map(({ reason }) => reason)).toEqual(['unreadable']);
  });
});

describe('pairRows', () => {
  const of = (id: string, reward: number, question: string, answer: string) =>
    rolloutOf(id, reward, [textCall(id, [ask(question)], say(answer))]);

  it('prefers the best of a group to its worst, where they answer the same prompt', () => {
    const episodes = [of('a', 0.2, 'x', '1'), of('b', 1, 'x', '2'), of('c', 0, 'x', '3'), of('d', 1, 'y', '4')];
    const { conversations, verdicts } = built(episodes);
    const pairs = pairRows(conversations, { pairsPerGroup: 1, minMargin: 0.5 }, promptOfConversation);
    expect(pairs.map(({ chosen, rejected }) => [chosen.rolloutId, rejected.rolloutId])).toEqual([['b', 'c']]);
    expect(pairVerdicts(verdicts, pairs).map(({ reason }) => reason)).toEqual([
      ...['no_preference', null, null, 'no_preference'],
    ]);
  });

  it('prefers nothing among equals, and uses a row once', () => {
    const equal = built([of('a', 1, 'x', '1'), of('b', 1, 'x', '2')]).conversations;
    expect(pairRows(equal, { pairsPerGroup: 3, minMargin: 1e-9 }, promptOfConversation)).toEqual([]);
    const rewards = [0.5, 0.9, 0.1, 0.7, 0.3];
    const rows = built(rewards.map((reward, at) => of(`${at}`, reward, 'x', `${at}`))).conversations;
    const pairs = pairRows(rows, { pairsPerGroup: 5, minMargin: 0.1 }, promptOfConversation);
    expect(pairs.map(({ chosen, rejected }) => [chosen.reward, rejected.reward])).toEqual([
      [0.9, 0.1],
      [0.7, 0.3],
    ]);
  });
});
