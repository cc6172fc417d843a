import { describe, expect, it } from 'vitest';
import { StopTextWatch } from './stop-text.ts';

/** Pushes one token per piece and tells after how many the watch stops. */
function stopsAfter(texts: string[], pieces: string[]): number | undefined {
  const watch = new StopTextWatch(texts, { push: (id) => pieces[id]! });
  const index = pieces.findIndex((_, id) => watch.push(id));
  return index < 0 ? undefined : index + 1;
}

describe('StopTextWatch', () => {
  it.each([
    { name: 'a text inside one token', texts: ['END'], pieces: ['a', 'bENDc', 'd'], after: 2 },
    { name: 'a text over several tokens', texts: ['</s>'], pieces: ['x<', '/', 's', '>', 'y'], after: 4 },
    { name: 'the earlier of two texts', texts: ['later', '\n\n'], pieces: ['a\n', '\nb', 'later'], after: 2 },
    { name: 'a text that begins again within itself', texts: ['aab'], pieces: ['a', 'a', 'a', 'b'], after: 4 },
    { name: 'tokens without text in between', texts: ['ok'], pieces: ['o', '', '', 'k'], after: 4 },
    { name: 'no text', texts: ['zz'], pieces: ['z', 'a', 'z'], after: undefined },
  ])('finds $name', ({ texts, pieces, after }) => {
    expect(stopsAfter(texts, pieces)).toBe(after);
  });
});
