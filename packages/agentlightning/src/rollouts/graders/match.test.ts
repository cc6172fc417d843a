import { describe, expect, it } from 'vitest';
import type { Json } from '../../store/types.ts';
import { createMatchGrader, type MatchName, matchRequirement } from './match.ts';
import { noModel } from './no-model.test.support.ts';

const grade = (match: MatchName, output: string | null, answer: Json) =>
  createMatchGrader({ match, field: 'answer' }).grade(question(output, answer));

const question = (output: string | null, answer: Json) => ({
  attemptId: 'a',
  task: { id: 't', input: {}, private: { answer } },
  output,
  failure: null,
  workspace: null,
  ...noModel,
  calls: [],
  signal: new AbortController().signal,
});

describe('numeric-match', () => {
  it.each<[string | null, Json, number]>([
    ['so it is $1,200.00', 1200, 1],
    ['2226', '2226', 1],
    ['It takes 3 steps, 72', 'Think.\n#### 72', 1],
    ['0.3333333', 1 / 3, 1],
    ['1234568', 1234567, 0],
    ['1e999', 5, 0],
    ['42 apples, 7 left', 42, 0],
    ['no idea', 42, 0],
    [null, 0, 0],
  ])('%j against %j is %j', async (output, answer, reward) => {
    expect(await grade('numeric-match', output, answer)).toBe(reward);
  });

  it('says when an answer is unusable', () => {
    const { check } = matchRequirement({ match: 'numeric-match', field: 'answer' });
    expect(check?.('yes')).toBe('has no number in it');
    expect(check?.(['1', 'yes'])).toBe('has no number in it');
    expect(check?.([])).toBe('is an empty list');
    expect(check?.('-1')).toBeNull();
  });
});

it.each<[string | null, Json, number]>([
  [' Paris\n', 'Paris', 1],
  ['paris', 'Paris', 0],
  ['5', 5, 1],
  ['b', ['a', 'b'], 1],
  ['["a","b"]', ['a', 'b'], 0],
  ['{"a":1}', { a: 1 }, 1],
  [null, '', 0],
])('exact-match: %j against %j is %j', async (output, answer, reward) => {
  expect(await grade('exact-match', output, answer)).toBe(reward);
});

it.each<[string | null, Json, number]>([
  ['the Eiffel Tower!', 'Eiffel tower', 1],
  ['in Paris, France', 'Paris', 0.5],
  ['Paris', ['London', 'Paris, France'], 2 / 3],
  ['to be or not to be', 'be', 2 / 7],
  ['Rome', 'Paris', 0],
  ['Straße', 'STRASSE', 0],
  ['the', 'a', 1],
  [null, 'the', 0],
])('f1-match: %j against %j is %d', async (output, answer, reward) => {
  expect(await grade('f1-match', output, answer)).toBeCloseTo(reward, 12);
});

it('takes the answers from the field that the configuration names', async () => {
  const grader = createMatchGrader({ match: 'exact-match', field: 'answers' });
  const task = { id: 't', input: {}, private: { answers: ['x', 'y'], answer: 'z' } };
  expect(await grader.grade({ ...question('y', null), task })).toBe(1);
  expect(await grader.grade({ ...question('z', null), task })).toBe(0);
});
