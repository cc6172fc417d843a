import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastNumber } from './number.ts';

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
