import { expect, it } from 'vitest';
import { collectOverride } from './overrides.ts';

it('collects nested values, typed as JSON where they are JSON', () => {
  const first = collectOverride('algorithm.learningRate=0');
  const second = collectOverride('algorithm.schedule=cosine', first);
  expect(collectOverride('seed=3', second)).toEqual({ algorithm: { learningRate: 0, schedule: 'cosine' }, seed: 3 });
});

it('keeps text that contains an equals sign', () =>
  expect(collectOverride('agent.env.A=b=c')).toEqual({ agent: { env: { A: 'b=c' } } }));

it('refuses what is no assignment', () => expect(() => collectOverride('steps')).toThrow(/key=value/));
