import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { type FailureCode, failed } from './failures.ts';

it('breaks once, and only when the first attempts all failed with one code (property)', () => {
  const endings = fc.array(fc.constantFrom<FailureCode | null>(null, 'exit_code', 'spawn_failed'), { maxLength: 10 });
  fc.assert(
    fc.property(endings, fc.integer({ min: 1, max: 4 }), (codes, limit) => {
      const breaker = createCircuitBreaker(limit);
      const broke = codes.map((code) => breaker.record('run', code && failed(code, '')));
      const first = codes.slice(0, limit);
      const alike = first.length === limit && first[0] !== null && new Set(first).size === 1;
      expect(broke).toEqual(codes.map((_, index) => alike && index === limit - 1));
    }),
  );
});

it('looks at each run for itself', () => {
  const breaker = createCircuitBreaker(2);
  const failure = failed('exit_code', '');
  expect([breaker.record('a', failure), breaker.record('b', failure), breaker.record('a', failure)]).toEqual([
    false,
    false,
    true,
  ]);
});
