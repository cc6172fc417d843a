import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import torch from '../../../vectors/torch.json' with { type: 'json' };
import { attemptOf, callOf, episodeOf, rewardOf } from '../fixtures.test.support.ts';
import { buildSamples } from '../samples.ts';
import { type AutomaticSettings, automaticReturns, automaticValues } from './automatic.ts';
import { type AutomaticRuleName, automaticRules } from './rules.ts';
import type { Turn, TurnTool } from './turn.ts';

const turnOf = (callId: string, more: Partial<Turn> = {}): Turn => ({
  callId,
  agentName: null,
  sampledTokens: 1,
  hasTools: true,
  tools: [],
  exceptions: [],
  ...more,
});
const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', required: ['x'] };
const toolOf = (more: Partial<TurnTool> = {}): TurnTool => ({
  name: 'add',
  arguments: '{"x": 1, "y": {"a": 1, "b": 2}}',
  schema,
  error: null,
  ...more,
});
const ruleOf = (rule: AutomaticRuleName, weight = 1) => ({ rule, weight, limit: 100, buffer: 20 });
const only = (rule: AutomaticRuleName): AutomaticSettings => ({ rules: [ruleOf(rule)], discount: 0, fadeSteps: 0 });
const blamed = (rule: AutomaticRuleName, turns: Turn[]) =>
  automaticValues(turns, only(rule)).map(({ callId, value }) => [callId, value]);

describe('automatic rewards', () => {
  it('blame a failed tool on the call that asked for it', () => {
    const turns = [turnOf('a', { tools: [toolOf(), toolOf({ error: 'no such file' })] }), turnOf('b')];
    expect(blamed('tool-error', turns)).toEqual([['a', -1]]);
  });

  it('blame an exception on the last call before it', () => {
    expect(blamed('exception', [turnOf('a'), turnOf('b', { exceptions: ['KeyError'] })])).toEqual([['b', -1]]);
  });

  it.each<[string, Partial<TurnTool>, boolean]>([
    ['fits', {}, false],
    ['is no JSON', { arguments: '{"x": ' }, true],
    ['lacks a field', { arguments: '{}' }, true],
    ['is empty and lacks a field', { arguments: '' }, true],
    ['names a tool that was not offered', { schema: undefined }, true],
    ['has a schema that is none', { schema: { type: 'nonsense' }, arguments: '{}' }, false],
  ])('hold a tool call to its schema: one that %s', (_, tool, wrong) => {
    expect(blamed('invalid-arguments', [turnOf('a', { tools: [toolOf(tool)] })])).toEqual(wrong ? [['a', -1]] : []);
  });

  it('do not ask for a schema where a call declared no tools', () => {
    const turn = turnOf('a', { hasTools: false, tools: [toolOf({ schema: undefined })] });
    expect(blamed('invalid-arguments', [turn])).toEqual([]);
  });

  it('find the same question put twice by one agent, in any spelling, and forgive a retry after an error', () => {
    const again = toolOf({ arguments: '{"y":{"b":2,"a":1},"x":1}' });
    const turns = [
      turnOf('fails', { tools: [toolOf({ error: 'timeout' })] }),
      turnOf('retry', { tools: [toolOf()] }),
      turnOf('other agent', { agentName: 'critic', tools: [toolOf()] }),
      turnOf('other question', { tools: [toolOf({ arguments: '{"x": 2}' })] }),
      turnOf('again', { tools: [again] }),
      turnOf('twice at once', { tools: [toolOf({ name: 'sub' }), toolOf({ name: 'sub' })] }),
    ];
    expect(blamed('repeated-call', turns).map(([id]) => id)).toEqual(['again', 'twice at once']);
  });

  it('punish length softly, as DAPO does', () => {
    const { lengths, punishments, limit, buffer } = torch.overlong;
    const turns = lengths.map((sampledTokens, at) => turnOf(`${at}`, { sampledTokens }));
    const settings: AutomaticSettings = { ...only('length'), rules: [{ rule: 'length', weight: 1, limit, buffer }] };
    for (const [at, value] of automaticReturns(turns, settings, 1).entries()) {
      expect(value).toBeCloseTo(punishments[at]!, 12);
    }
    const sharp: AutomaticSettings = { ...settings, rules: [{ rule: 'length', weight: 1, limit, buffer: 0 }] };
    expect(automaticReturns([turnOf('a', { sampledTokens: limit })], sharp, 1)).toEqual([0]);
    expect(automaticReturns([turnOf('a', { sampledTokens: limit + 1 })], sharp, 1)).toEqual([-1]);
  });

  it('are weighted, added, discounted over later calls, and fade', () => {
    const turns = [turnOf('a'), turnOf('b', { tools: [toolOf({ error: 'x' })], exceptions: ['x'] })];
    const rules = [ruleOf('tool-error', 0.5), ruleOf('exception', 0.25)];
    const settings = { rules, discount: 0.5, fadeSteps: 4 };
    expect(automaticReturns(turns, settings, 1)).toEqual([-0.375, -0.75]);
    expect(automaticReturns(turns, settings, 3)).toEqual([-0.1875, -0.375]);
    expect(automaticReturns(turns, settings, 9).every((value) => Math.abs(value) === 0)).toBe(true);
  });

  it.each(automaticRules)('$name gives each turn a value from −1 to 0, and nothing for nothing', ({ values }) => {
    const tool = fc.record({
      name: fc.constantFrom('add', 'sub'),
      arguments: fc.oneof(fc.json(), fc.string()),
      schema: fc.constantFrom(undefined, schema, {}, null),
      error: fc.constantFrom(null, 'failed'),
    });
    const turn = fc.record({
      callId: fc.uuid(),
      agentName: fc.constantFrom(null, 'worker'),
      sampledTokens: fc.nat(200),
      hasTools: fc.boolean(),
      tools: fc.array(tool, { maxLength: 3 }),
      exceptions: fc.array(fc.string(), { maxLength: 1 }),
    });
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 5 }), fc.nat(150), fc.nat(60), (turns, limit, buffer) => {
        const found = values(turns, { weight: 1, limit, buffer });
        expect(found).toHaveLength(turns.length);
        expect(found.every((value) => value >= -1 && value <= 0)).toBe(true);
      }),
    );
  });
});

describe('automatic rewards beside the true one', () => {
  const call = (id: string) => callOf({ id, prompt: [1], answers: [[2]] });
  const episodes = (rewards: (number | null)[]) =>
    rewards.map((reward, at) =>
      episodeOf(`${at}`, [attemptOf(`${at}/1`, [call(`${at}`)], reward === null ? [] : [rewardOf(reward)])]),
    );
  const advantages = (rewards: (number | null)[], values: number[], estimator: 'grpo' | 'dr-grpo' = 'dr-grpo') => {
    const options = { policy: 'policy', policyVersion: 0, maxTokens: 9, scaleByStd: true, estimator };
    const automatic = ({ attempt }: { attempt: { rolloutId: string } }) => [values[Number(attempt.rolloutId)]!];
    const { samples, groups } = buildSamples(episodes(rewards), { ...options, automatic });
    return { means: groups.map(({ mean }) => mean), found: samples.map((sample) => sample.advantages.at(-1)!) };
  };

  it('teach where the true rewards are equal, and leave their baseline alone', () => {
    expect(advantages([0, 0], [-0.5, 0])).toEqual({ means: [0], found: [-0.25, 0.25] });
    expect(advantages([1, 0], [0, 0])).toEqual({ means: [0.5], found: [0.5, -0.5] });
    expect(advantages([1, 0], [-0.5, 0])).toEqual({ means: [0.5], found: [0.25, -0.25] });
  });

  it('keep their size when the true advantages are divided by a standard deviation', () => {
    const { found } = advantages([1, 0], [-0.1, 0], 'grpo');
    expect(found[0]).toBeCloseTo(Math.SQRT1_2 - 0.05, 5);
  });

  it('never make a reward of a missing one, and take no part in a comparison then', () => {
    expect(advantages([null, 0, 0], [-1, -0.5, 0])).toEqual({ means: [0], found: [-0.25, 0.25] });
    expect(advantages([0, 0], [Number.NaN, 0]).found).toEqual([]);
  });
});
