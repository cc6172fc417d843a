import { describe, expect, it } from 'vitest';
import { noTokenLimit, type TurnEvent } from '../upstreams/index.ts';
import { Answer } from './answer.ts';
import { type CallHead, type CallOutcome, callRecord } from './recording.ts';

const head: CallHead = {
  id: 'call-1',
  attemptId: 'attempt-1',
  rolloutId: 'rollout-1',
  sequence: 0,
  agentName: null,
  model: 'policy',
  policy: 'policy',
  dialect: 'chat',
  request: {},
  startedAt: 1000,
  sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 64, stop: [], seed: 1 },
  overridden: {},
};
const fine: CallOutcome = { response: {}, failure: null, endedAt: 1030, firstTokenAt: 1010 };
const prompt: TurnEvent = { type: 'prompt', ids: Int32Array.of(1, 2), maxTokens: 64 };
const tokens = (ids: number[], logProbs: number[], policyVersion = 1): TurnEvent => ({
  type: 'tokens',
  choice: 0,
  ids,
  logProbs,
  policyVersion,
});
const finish: TurnEvent = { type: 'finish', choice: 0, reason: 'stop', rawText: 'ab' };

function recordOf(events: TurnEvent[], outcome: CallOutcome = fine, callHead = head) {
  const answer = new Answer(1);
  for (const event of events) answer.apply(event);
  return callRecord(callHead, answer, outcome);
}

describe('callRecord', () => {
  it('keeps ids, log probs, text and versions', () => {
    const events = [prompt, tokens([5], [-1], 3), tokens([6, 7], [-2, -0.5], 4), finish];
    expect(recordOf(events)).toEqual({
      ...head,
      response: {},
      promptIds: Int32Array.of(1, 2),
      choices: [
        {
          index: 0,
          tokenIds: Int32Array.of(5, 6, 7),
          logProbs: Float32Array.of(-1, -2, -0.5),
          finishReason: 'stop',
          text: 'ab',
          policyVersions: [
            { from: 0, version: 3 },
            { from: 1, version: 4 },
          ],
        },
      ],
      untrainable: null,
      error: null,
      latencyMs: 30,
      timeToFirstTokenMs: 10,
    });
  });

  it.each([
    ['missing_token_ids', [{ ...prompt, ids: null } as TurnEvent, finish]],
    ['missing_token_ids', [prompt, finish]],
    ['missing_log_probs', [prompt, tokens([5], []), finish]],
    ['missing_log_probs', [prompt, tokens([5], [Number.NaN]), finish]],
    ['length_mismatch', [prompt, tokens([5, 6], [-1]), finish]],
    ['length_mismatch', [prompt, tokens([5], [-1, -2]), finish]],
  ])('says why a call cannot be trained on: %s', (reason, events) => {
    expect(recordOf(events).untrainable).toBe(reason);
  });

  it('keeps what a cancelled, broken or failed call produced', () => {
    const events = [prompt, tokens([5], [-1]), { type: 'text', choice: 0, text: 'a' } as const];
    const failed = (cancelled: boolean) => ({
      ...fine,
      response: null,
      failure: { error: Object.assign(new Error('oops'), { code: 'some_code' }), cancelled },
    });
    expect(recordOf(events, failed(true))).toMatchObject({
      untrainable: 'cancelled',
      error: 'some_code: oops',
      choices: [{ tokenIds: Int32Array.of(5), finishReason: 'cancelled', text: 'a' }],
    });
    expect(recordOf(events, failed(false))).toMatchObject({
      untrainable: 'broken_stream',
      choices: [{ finishReason: 'error' }],
    });
    expect(recordOf([prompt], failed(false)).untrainable).toBe('upstream_error');
  });

  it('notes the room that the context left', () => {
    const events: TurnEvent[] = [{ type: 'prompt', ids: Int32Array.of(1), maxTokens: 9 }, tokens([5], [-1]), finish];
    expect(recordOf(events)).toMatchObject({ sampling: { maxTokens: 9 }, overridden: { maxTokens: 64 } });
    const unbounded = { ...head, sampling: { ...head.sampling, maxTokens: noTokenLimit } };
    expect(recordOf(events, fine, unbounded)).toMatchObject({ sampling: { maxTokens: 9 }, overridden: {} });
    const bounded = { ...head, overridden: { maxTokens: 500 } };
    expect(recordOf(events, fine, bounded).overridden).toEqual({ maxTokens: 500 });
  });
});
