import { expect, it } from 'vitest';
import { type Best, betterOf, reasonToStop } from './stop.ts';

const never = { afterSeconds: 0, afterTokens: 0, patience: 0, minGain: 0 };
const used = (more: { seconds?: number; tokens?: number; best?: Best }) => ({
  step: 7,
  spent: { seconds: more.seconds ?? 0, tokens: more.tokens ?? 0 },
  best: more.best ?? null,
});

it('goes on for ever without a limit', () => {
  const best = { step: 1, reward: 1, since: 1e9 };
  expect(reasonToStop(never, used({ seconds: 1e9, tokens: 1e9, best }))).toBeNull();
});

it.each([
  ['time_spent', { afterSeconds: 60 }, { seconds: 60 }, { seconds: 59.9 }],
  ['tokens_spent', { afterTokens: 1000 }, { tokens: 1000 }, { tokens: 999 }],
  ['no_gain', { patience: 2 }, { best: { step: 3, reward: 1, since: 2 } }, { best: { step: 3, reward: 1, since: 1 } }],
])('ends with %s exactly at its limit', (code, limit, at, before) => {
  expect(reasonToStop({ ...never, ...limit }, used(at))).toMatchObject({ code, step: 7, level: 'info' });
  expect(reasonToStop({ ...never, ...limit }, used(before))).toBeNull();
});

it('takes a validation for better only beyond the margin, and one without grades for nothing', () => {
  const validation = (step: number, mean: number | null) => ({
    step,
    reward: mean === null ? null : { mean, low: mean, high: mean, count: 3 },
  });
  let best: Best | null = null;
  const seen = [0.2, 0.25, null, 0.31, 0.3, 0.4].map((mean, step) => {
    best = betterOf(best, validation(step, mean), 0.1);
    return best;
  });
  expect(seen).toEqual([
    { step: 0, reward: 0.2, since: 0 },
    { step: 0, reward: 0.2, since: 1 },
    { step: 0, reward: 0.2, since: 1 },
    { step: 3, reward: 0.31, since: 0 },
    { step: 3, reward: 0.31, since: 1 },
    { step: 3, reward: 0.31, since: 2 },
  ]);
});
