import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dropReasons } from './drop-reasons.ts';

describe('dropReasons', () => {
  it('stands in docs/samples.md, in the same order and words', () => {
    const page = readFileSync(new URL('../../../../docs/samples.md', import.meta.url), 'utf8');
    const rows = Object.entries(dropReasons).map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |`);
    expect(page).toContain(`| reason | meaning |\n|---|---|\n${rows.join('\n')}\n`);
  });
});
