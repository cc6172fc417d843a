import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dropReasons } from './drop-reasons.ts';

describe('dropReasons', () => {
  it('stands in docs/samples.md, in the same order and words', () => {
    const page = readFileSync(new URL('../../../../docs/samples.md', import.meta.url), 'utf8');
    const table = page.slice(page.indexOf('\n', page.indexOf('| -', page.indexOf('| reason'))) + 1).split('\n\n')[0]!;
    const cells = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const expected = Object.entries(dropReasons).map(([reason, meaning]) => [`\`${reason}\``, meaning]);
    expect(cells.map((line) => line.slice(1, 3))).toEqual(expected);
  });
});
