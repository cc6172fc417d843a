import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StopFilter } from './stop-filter.ts';

describe('StopFilter', () => {
  it('holds back only what may become a stop text', () => {
    const filter = new StopFilter(['END', 'NDX']);
    expect(['aE', 'N', 'N', 'DX', 'more'].map((piece) => filter.push(piece))).toEqual(['a', '', 'EN', '', '']);
    expect(filter.end()).toBe('');
  });

  it('gives back what it held when nothing came of it', () => {
    const filter = new StopFilter(['END']);
    expect(filter.push('aEN')).toBe('a');
    expect(filter.end()).toBe('EN');
  });

  it('cuts before the stop text that is complete first, however the text is cut', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(letters), fc.array(letters, { maxLength: 3 }), (pieces, stops) => {
        const filter = new StopFilter(stops);
        const text = pieces.join('');
        const found = stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0);
        const expected = found.length === 0 ? text : text.slice(0, firstCompleted(text, stops));
        expect(pieces.map((piece) => filter.push(piece)).join('') + filter.end()).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });
});

/** Text arrives in order, so the stop text that is complete first decides; of those that end together, the longest. */
function firstCompleted(text: string, stops: string[]): number {
  for (let end = 1; end <= text.length; end += 1) {
    const ended = stops.filter((stop) => text.slice(0, end).endsWith(stop));
    if (ended.length > 0) return end - Math.max(...ended.map((stop) => stop.length));
  }
  return text.length;
}
