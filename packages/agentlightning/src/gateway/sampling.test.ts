import { describe, expect, it } from 'vitest';
import { turnOf } from '../upstreams/testing/turns.ts';
import { enforceSampling } from './sampling.ts';

const sent = { temperature: 0, topP: 0.9, seed: 42, maxTokens: 500 };
const turn = turnOf({
  sent,
  sampling: { temperature: 0, topP: 0.9, topK: 0, maxTokens: 500, stop: [], seed: 42 },
  extra: { presence_penalty: 0.5, min_p: null, user: 'someone' },
});
const sampling = { temperature: 0.8, topP: 1, topK: 0, maxTokens: 100 };

describe('enforceSampling', () => {
  it("forces a training session's sampling, and notes what the client had sent", () => {
    const { turn: enforced, overridden } = enforceSampling(turn, {
      mode: 'train',
      sampling,
      policy: 'policy',
      seed: 5,
    });
    expect(enforced.sampling).toEqual({ temperature: 0.8, topP: 1, topK: 0, maxTokens: 100, stop: [], seed: 5 });
    expect(enforced.extra).toEqual({ user: 'someone' });
    expect(overridden).toEqual({ ...sent, presence_penalty: 0.5 });
  });

  it('samples from the policy itself when a training session names nothing', () => {
    const { turn: enforced, overridden } = enforceSampling(turn, {
      mode: 'train',
      sampling: null,
      policy: 'policy',
      seed: 5,
    });
    expect(enforced.sampling).toMatchObject({ temperature: 1, topP: 1, topK: 0, maxTokens: 500 });
    expect(overridden).toEqual({ temperature: 0, topP: 0.9, seed: 42, presence_penalty: 0.5 });
  });

  it('notes nothing that the client left out or sent alike', () => {
    const quiet = turnOf({ sent: { temperature: 1 } });
    expect(enforceSampling(quiet, { mode: 'train', sampling: null, policy: 'policy', seed: 5 }).overridden).toEqual({});
  });

  it('leaves validation to the client but for what the session names', () => {
    const free = enforceSampling(turn, { mode: 'validation', sampling: null, policy: 'policy', seed: 5 });
    expect(free).toEqual({ turn, overridden: {} });
    const named = enforceSampling(turn, { mode: 'validation', sampling, policy: 'policy', seed: 5 });
    expect(named.turn.sampling).toMatchObject({ temperature: 0.8, topP: 1, seed: 42 });
  });

  it('leaves frozen models and served ones alone, and seeds what has no seed', () => {
    for (const options of [
      { mode: 'train', policy: null },
      { mode: 'serve', policy: 'policy' },
    ] as const) {
      expect(enforceSampling(turn, { ...options, sampling: null, seed: 5 })).toEqual({ turn, overridden: {} });
      const unseeded = turnOf({ sampling: { ...turn.sampling, seed: null } });
      expect(enforceSampling(unseeded, { ...options, sampling: null, seed: 5 }).turn.sampling.seed).toBe(5);
    }
  });
});
