import { describe, expect, it } from 'vitest';
import type { Episode } from '../../samples/index.ts';
import type { Call, Failure, JsonObject } from '../../store/types.ts';
import { trialResult } from './report.ts';
import { usageOf } from './usage.ts';

const task = { id: 't', input: { question: 'Six times seven?' }, private: { answer: '42', note: 'secret' } };

/** As much of an episode as a report and a count look at. */
function episode(
  calls: Partial<Call>[],
  { reward = 1, failure = null }: { reward?: number | null; failure?: Failure | null } = {},
): Episode {
  const rollout = { state: failure === null ? 'succeeded' : 'failed', failure, superseded: false };
  const base = { promptIds: null, choices: [], dialect: 'chat', agentName: null, model: 'm', startedAt: 0 };
  const rewards = [{ name: 'reward', value: reward, source: 'grader', agentName: null, callId: null }];
  const attempts = [
    {
      attempt: { output: '42', failure },
      calls: calls.map((call, sequence) => ({
        ...base,
        id: `${sequence}`,
        sequence,
        request: {},
        response: null,
        ...call,
      })),
      rewards,
    },
  ];
  return { rollout, attempts } as unknown as Episode;
}

const chat = {
  agentName: 'solver',
  request: {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Six times seven?' },
    ],
  },
  response: {
    choices: [{ index: 0, message: { role: 'assistant', content: 'It is 42.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  } as JsonObject,
};

describe('what a critique model reads', () => {
  it('is the input, the calls by agent, the output and the reward', () => {
    const { report, reward } = trialResult(episode([chat]), { task, reveal: [] });
    expect(reward).toBe(1);
    for (const part of ['Six times seven?', 'Model call of "solver"', 'system: Be brief.', 'It is 42.', 'Reward: 1']) {
      expect(report).toContain(part);
    }
  });

  it('has of the private part what is named, and nothing else', () => {
    const failed = episode([], { reward: 0 });
    failed.attempts[0]!.attempt.output = 'no idea';
    expect(trialResult(failed, { task, reveal: [] }).report).not.toMatch(/42|secret/);
    const { report } = trialResult(failed, { task, reveal: ['answer', 'absent'] });
    expect(report).toContain('Right answer: 42');
    expect(report).not.toMatch(/secret|absent/);
  });

  it('tells a failure of the agent, which counts, from one of the infrastructure, which is no grade', () => {
    const ofAgent = { class: 'agent', code: 'exit_code', message: 'It ended with 1.' } as const;
    expect(trialResult(episode([], { reward: 0, failure: ofAgent }), { task, reveal: [] })).toMatchObject({
      reward: 0,
      report: expect.stringContaining('Failure (agent, exit_code): It ended with 1.') as string,
    });
    const ofNode = { class: 'infrastructure', code: 'worker_lost', message: 'Gone.' } as const;
    expect(trialResult(episode([], { reward: 0, failure: ofNode }), { task, reveal: [] })).toMatchObject({
      reward: null,
      report: expect.stringContaining('Not graded: worker_lost') as string,
    });
  });
});

describe('what a rollout used', () => {
  const prices = { m: { input: 2, output: 10 } };

  it.each([
    ['chat', { usage: { prompt_tokens: 10, completion_tokens: 5 } }],
    ['responses and messages', { usage: { input_tokens: 10, output_tokens: 5 } }],
    ['Gemini', { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 } }],
  ] as [string, JsonObject][])('is read from answers of %s', (_, response) => {
    expect(usageOf(episode([{ response }, { response }]), prices)).toEqual({ calls: 2, tokens: 30, money: 2 * 70e-6 });
  });

  it('is counted by recorded ids where there are some, and a call without an answer is one all the same', () => {
    const recorded = {
      promptIds: Int32Array.of(1, 2, 3),
      choices: [{ tokenIds: Int32Array.of(4) }],
    } as unknown as Call;
    expect(usageOf(episode([recorded, {}]), prices)).toEqual({ calls: 2, tokens: 4, money: 16e-6 });
  });
});
