import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../store/types.ts';
import { exactMatch, lastNumber, numericAnswer, numericMatch } from './match.ts';

const question = (output: string | null, answer: Json) => ({
  attemptId: 'a',
  task: { id: 't', input: {}, private: { answer } },
  output,
  failure: null,
  calls: [],
  signal: new AbortController().signal,
});

describe('lastNumber', () => {
  it.each([
    ['The answer is 42.', 42],
    ['1,234.50', 1234.5],
    ['$1,234', 1234],
    ['-$7', -7],
    ['costs -3 or −4', -4],
    ['5-3', 3],
    ['x2 and (1)-6', 6],
    ['- 5 apples', 5],
    ['1e3', 1000],
    ['.5', 0.5],
    ['= -0.25%', -0.25],
    ['1, 2, 3', 3],
    ['10,20', 20],
    ['12,345,6789', 6789],
    ['#### 72', 72],
    ['1e999', null],
    ['none', null],
    ['', null],
  ])('%j is %j', (text, expected) => {
    expect(lastNumber(text)).toBe(expected);
  });

  it('reads back every number that it is given, also in words and with separators (property)', () => {
    fc.assert(
      fc.property(fc.integer(), fc.string({ unit: fc.constantFrom('a', ' ', '.', '\n') }), (value, words) => {
        expect(lastNumber(`${words} ${value.toLocaleString('en-US')}${words}`)).toBe(value);
        expect(lastNumber(`${words}\n${value}`)).toBe(value);
      }),
    );
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(lastNumber(`it is ${value}`)).toBe(value + 0); // -0 is written as 0
      }),
    );
  });
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
    expect(await numericMatch.grade(question(output, answer))).toBe(reward);
  });

  it('says when an answer is unusable', () => {
    expect(numericAnswer.check('yes')).toBe('has no number in it');
    expect(numericAnswer.check('-1')).toBeNull();
  });
});

it.each<[string | null, Json, number]>([
  [' Paris\n', 'Paris', 1],
  ['paris', 'Paris', 0],
  ['5', 5, 1],
  ['["a"]', ['a'], 1],
  [null, '', 0],
])('exact-match: %j against %j is %j', async (output, answer, reward) => {
  expect(await exactMatch.grade(question(output, answer))).toBe(reward);
});
