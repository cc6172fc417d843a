import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { type FailureCode, failed } from './failures.ts';

it('breaks when the first attempts all failed with one code, however it goes on (property)', () => {
  const endings = fc.array(fc.constantFrom<FailureCode | null>(null, 'exit_code', 'run_timeout'), { maxLength: 10 });
  fc.assert(
    fc.property(endings, fc.integer({ min: 1, max: 4 }), (codes, limit) => {
      const breaker = createCircuitBreaker(limit);
      const broke = codes.map((code) => breaker.record('run', code && failed(code, '')) !== null);
      const first = codes.slice(0, limit);
      const alike = first.length === limit && first[0] !== null && new Set(first).size === 1;
      expect(broke).toEqual(codes.map((_, index) => alike && index === limit - 1));
    }),
  );
});

it('breaks in the middle of a run too, when nothing but one failure of the infrastructure comes any more', () => {
  const breaker = createCircuitBreaker(1);
  breaker.record('run', null);
  const broke = Array.from({ length: 10 }, () => breaker.record('run', failed('controller_error', '')));
  expect(broke).toEqual([...Array(7).fill(null), 8, null, null]);
});

it('takes no number of wrong answers of the agent for a breakdown', () => {
  const breaker = createCircuitBreaker(1);
  breaker.record('run', null);
  for (let attempt = 0; attempt < 100; attempt++) expect(breaker.record('run', failed('exit_code', ''))).toBe(null);
});

it('looks at each run for itself', () => {
  const breaker = createCircuitBreaker(2);
  const failure = failed('exit_code', '');
  const broke = ['a', 'b', 'a'].map((run) => breaker.record(run, failure));
  expect(broke).toEqual([null, null, 2]);
});
