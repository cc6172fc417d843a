import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Call, UntrainableReason } from '../store/types.ts';
import { creditAssigner, creditRules } from './credit/rules.ts';
import { type CallOutcome, countDropped, type DropReason } from './drop-reasons.ts';
import type { Episode } from './episodes.ts';
import { estimators } from './estimators.ts';
import { attemptOf, type CallSketch, callOf, choiceOf, episodeOf, rewardOf } from './fixtures.test.support.ts';
import { buildSamples, type SampleOptions } from './samples.ts';
import { trainRows } from './weights.ts';

const options: SampleOptions = { policy: 'policy', policyVersion: 0, maxTokens: 100, scaleByStd: false };
const build = (episodes: Episode[], more: Partial<SampleOptions> = {}) =>
  buildSamples(episodes, { ...options, ...more });

/** An episode of one attempt; its calls' ids begin with the episode's. */
function episode(
  id: string,
  reward: number | null,
  calls: Call[],
  more: Parameters<typeof episodeOf>[2] = {},
): Episode {
  return episodeOf(id, [attemptOf(`${id}/1`, calls, [rewardOf(reward)])], more);
}
const call = (id: string, more: Partial<Call> = {}, sketch: Partial<CallSketch> = {}) =>
  callOf({ id, prompt: [1, 2], answers: [[3, 4]], ...sketch }, more);
/** Gives the group variance, so that the other episode's advantage is not zero. */
const other = () => episode('other', 0, [call('other')]);

const reasonOf = (outcomes: readonly CallOutcome[], id: string) => outcomes.find(({ callId }) => callId === id)?.reason;

describe('buildSamples', () => {
  it('makes one row of a chain, trained on its answers alone', () => {
    const calls = [
      callOf({ id: 'a', prompt: [1, 2], answers: [[3]] }),
      callOf({ id: 'b', prompt: [1, 2, 3, 4], answers: [[5, 6]] }),
    ];
    calls[1]!.choices[0]!.logProbs = Float32Array.of(-0.25, -2);
    const { samples, groups } = build([episode('one', 1, calls), other()]);
    expect(groups).toMatchObject([{ groupId: 'group', count: 2, mean: 0.5, zeroVariance: false }]);
    const [row] = samples;
    expect(row).toMatchObject({ rolloutId: 'one', attemptId: 'one/1', callIds: ['a', 'b'], trainedTokens: 3 });
    expect([...row!.tokenIds]).toEqual([1, 2, 3, 4, 5, 6]);
    expect([...row!.mask]).toEqual([0, 0, 1, 0, 1, 1]);
    expect([...row!.logProbs]).toEqual([0, 0, -0.5, 0, -0.25, -2]);
    expect([...row!.advantages]).toEqual([0, 0, 0.5, 0, 0.5, 0.5]);
  });

  it('keeps what it cannot train on as context of what it can', () => {
    const calls = [
      callOf({ id: 'a', prompt: [1], answers: [[2]] }, { untrainable: 'missing_log_probs' }),
      callOf({ id: 'b', prompt: [1, 2, 3], answers: [[4]] }),
      callOf({ id: 'c', prompt: [1, 2, 3, 4, 5], answers: [[6]] }, { untrainable: 'cancelled' }),
    ];
    const { samples, outcomes } = build([episode('one', 1, calls), other()]);
    expect([...samples[0]!.tokenIds]).toEqual([1, 2, 3, 4]);
    expect([...samples[0]!.mask]).toEqual([0, 0, 0, 1]);
    expect(outcomes.slice(0, 3).map(({ reason }) => reason)).toEqual(['missing_log_probs', null, 'cancelled']);
  });

  it('trains every choice of n > 1, and counts the call once', () => {
    const { samples, outcomes } = build([episode('one', 1, [call('a', {}, { answers: [[3], [], [4, 5]] })]), other()]);
    expect(samples.filter(({ rolloutId }) => rolloutId === 'one').map(({ tokenIds }) => [...tokenIds])).toEqual([
      [1, 2, 3],
      [1, 2, 4, 5],
    ]);
    expect(outcomes).toHaveLength(2);
    expect(reasonOf(outcomes, 'a')).toBeNull();
  });

  it('computes advantages before anything is dropped, and without ungraded rollouts', () => {
    const infrastructure = { state: 'failed', failure: { class: 'infrastructure', code: 'worker_lost', message: '' } };
    const { samples, groups, outcomes } = build([
      episode('one', 1, [call('a')]),
      episode('untrainable', 0, [call('b', { untrainable: 'missing_token_ids' })]),
      episode('no calls', 0, []),
      episode('masked', 0, [call('c')], infrastructure as Parameters<typeof episodeOf>[2]),
      episode('null', null, [call('d')]),
      episode('agent failure', 0, [call('e')], {
        state: 'failed',
        failure: { class: 'agent', code: 'exit_code', message: '' },
      }),
    ]);
    expect(groups).toMatchObject([{ count: 4, mean: 0.25 }]);
    expect(samples.map(({ rolloutId, advantages }) => [rolloutId, advantages.at(-1)])).toEqual([
      ['one', 0.75],
      ['agent failure', -0.25],
    ]);
    expect(['b', 'c', 'd'].map((id) => reasonOf(outcomes, id))).toEqual([
      'missing_token_ids',
      'infrastructure_failure',
      'no_reward',
    ]);
  });

  it('trains on the last attempt; earlier ones were ended by infrastructure', () => {
    const failed = attemptOf('one/1', [call('a')], [rewardOf(5)], { state: 'failed' });
    const succeeded = attemptOf('one/2', [call('b')], [rewardOf(1)], { number: 2 });
    const { samples, outcomes, groups } = build([episodeOf('one', [failed, succeeded]), other()]);
    expect(samples[0]).toMatchObject({ attemptId: 'one/2', callIds: ['b'] });
    expect(reasonOf(outcomes, 'a')).toBe('infrastructure_failure');
    expect(groups[0]!.mean).toBe(0.5);
  });

  const dropCases: [DropReason, Parameters<typeof episodeOf>[2], Call, Partial<SampleOptions>?][] = [
    ['frozen_model', {}, call('a', { policy: null })],
    ['other_policy', {}, call('a', { policy: 'critic' })],
    ['superseded', { superseded: true }, call('a')],
    ['rollout_cancelled', { state: 'cancelled' }, call('a')],
    ['late', {}, call('a', { late: true })],
    ['missing_token_ids', {}, call('a', {}, { prompt: null })],
    ['missing_token_ids', {}, call('a', {}, { prompt: [] })],
    ['empty_answer', {}, call('a', {}, { answers: [] })],
    ['empty_answer', {}, call('a', {}, { answers: [[]] })],
    ['missing_log_probs', {}, call('a', { choices: [choiceOf([3], { logProbs: new Float32Array(0) })] })],
    ['length_mismatch', {}, call('a', { choices: [choiceOf([3], { logProbs: Float32Array.of(-1, -1) })] })],
    ['invalid_log_probs', {}, call('a', { choices: [choiceOf([3], { logProbs: Float32Array.of(Number.NaN) })] })],
    ['invalid_log_probs', {}, call('a', { choices: [choiceOf([3], { logProbs: Float32Array.of(-Infinity) })] })],
    ['other_policy_version', {}, call('a'), { policyVersion: 7 }],
    ['other_policy_version', {}, call('a', { choices: [choiceOf([3], { policyVersions: [] })] })],
    ['other_temperature', {}, call('a', { sampling: { ...call('x').sampling, temperature: 0.7 } })],
    ['too_long', {}, call('a'), { maxTokens: 3 }],
  ];
  it.each(dropCases)('drops with the reason %s', (reason, rollout, dropped, more = {}) => {
    const { samples, outcomes } = build([episode('one', 1, [dropped], rollout), other()], more);
    expect(reasonOf(outcomes, 'a')).toBe(reason);
    expect(samples.filter(({ rolloutId }) => rolloutId === 'one')).toEqual([]);
  });

  it('drops what teaches nothing or would leave float32', () => {
    const equal = build([episode('one', 1, [call('a')]), episode('two', 1, [call('b')])]);
    expect(equal.groups[0]!.zeroVariance).toBe(true);
    expect(countDropped(equal.outcomes)).toEqual({ zero_advantage: 2 });

    const huge = build([episode('one', 1e300, [call('a')]), other()]);
    expect(countDropped(huge.outcomes)).toEqual({ advantage_out_of_range: 2 });
    expect(build([episode('one', 1e300, [call('a')]), other()], { scaleByStd: true }).samples).toHaveLength(2);
  });

  it('cuts a chain that is too long at its end', () => {
    const calls = [
      callOf({ id: 'a', prompt: [1], answers: [[2]] }),
      callOf({ id: 'b', prompt: [1, 2, 3], answers: [[4]] }),
    ];
    const { samples, outcomes } = build([episode('one', 1, calls), episode('other', 0, [])], { maxTokens: 3 });
    expect(samples.map(({ tokenIds }) => [...tokenIds])).toEqual([[1, 2]]);
    expect(countDropped(outcomes)).toEqual({ too_long: 1 });
  });

  it('asks the assigner for the credit of each call', () => {
    const calls = [call('a'), call('b', {}, { prompt: [9] })];
    const { samples } = build([episode('one', 1, calls), episode('other', 0, [])], {
      credit: ({ reward }) => [reward, reward / 4],
    });
    expect(samples.map(({ advantages }) => advantages.at(-1))).toEqual([0.5, -0.25]);
  });

  it('accounts for every call once, whatever the data', () => {
    const untrainable: UntrainableReason[] = ['cancelled', 'broken_stream', 'upstream_error'];
    const tokens = fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 3 });
    const anyCall = fc.record({
      prompt: fc.option(tokens),
      answers: fc.array(tokens, { maxLength: 3 }),
      policy: fc.constantFrom('policy', 'policy', 'critic', null),
      untrainable: fc.option(fc.constantFrom(...untrainable), { freq: 4 }),
      temperature: fc.constantFrom(1, 1, 0),
      logProb: fc.constantFrom(-1, -1, Number.NaN, -100),
    });
    const anyEpisode = fc.record({
      attempts: fc.array(fc.array(anyCall, { maxLength: 5 }), { maxLength: 3 }),
      reward: fc.oneof(fc.double(), fc.constantFrom(0, 1, null)),
      group: fc.constantFrom('g', 'h'),
      superseded: fc.constantFrom(false, false, true),
      state: fc.constantFrom('succeeded', 'succeeded', 'failed', 'cancelled'),
      infrastructure: fc.constantFrom(false, false, true),
    });
    const settings = {
      discount: 0.9,
      outcomeWeight: 1,
      stepWeight: 1,
      dimensions: { reward: 2 },
      state: 'prompt',
    } as const;
    const anyMethod = fc.record({
      estimator: fc.constantFrom(...estimators.map(({ name }) => name)),
      credit: fc.constantFrom(...creditRules.map(({ name }) => creditAssigner({ ...settings, rule: name }))),
    });
    fc.assert(
      fc.property(fc.array(anyEpisode, { maxLength: 6 }), fc.boolean(), anyMethod, (sketches, scaleByStd, method) => {
        const episodes = sketches.map((sketch, at) => {
          const attempts = sketch.attempts.map((calls, number) =>
            attemptOf(
              `${at}/${number}`,
              calls.map(({ prompt, answers, temperature, logProb, ...more }, position) => {
                const made = callOf({ id: `${at}/${number}/${position}`, prompt, answers }, more);
                for (const choice of made.choices) choice.logProbs.fill(logProb);
                return { ...made, sampling: { ...made.sampling, temperature } };
              }),
              [rewardOf(sketch.reward)],
            ),
          );
          const failure = {
            class: sketch.infrastructure ? 'infrastructure' : 'agent',
            code: 'x',
            message: '',
          } as const;
          return episodeOf(`${at}`, attempts, {
            groupId: sketch.group,
            superseded: sketch.superseded,
            state: sketch.state,
            failure: sketch.state === 'failed' ? failure : null,
          });
        });
        const { samples, outcomes } = build(episodes, { scaleByStd, ...method });
        const calls = episodes.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.calls));
        expect(outcomes.map(({ callId }) => callId)).toEqual(calls.map(({ id }) => id));
        expect(outcomes.every(({ reason }) => reason !== undefined)).toBe(true);

        const trained = new Set(samples.flatMap(({ callIds }) => callIds));
        const kept = outcomes.filter(({ reason }) => reason === null).map(({ callId }) => callId);
        expect(new Set(kept)).toEqual(trained);
        const dropped = Object.values(countDropped(outcomes)).reduce((sum, count) => sum + count, 0);
        expect(trained.size + dropped).toBe(calls.length);

        for (const row of trainRows(samples, 'rollout-mean')) {
          for (const array of [row.weights, row.advantages!, row.logProbs!]) {
            expect(array).toHaveLength(row.tokenIds.length);
            expect(array[0]).toBe(0);
            expect(array.every(Number.isFinite)).toBe(true);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
