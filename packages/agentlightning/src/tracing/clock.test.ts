import { expect, it } from 'vitest';
import { hasSkew, markSkew } from './clock.ts';
import { spanOf } from './span.test.support.ts';

const hour = 60 * 60 * 1000;

it.each([
  [-24 * hour, -24 * hour],
  [24 * hour, 24 * hour],
  [-hour / 2, undefined],
  [0, undefined],
])('marks a span that ended %i ms from now', (offset, mark) => {
  const now = 100 * hour;
  const marked = markSkew(spanOf({ endedAt: now + offset, attributes: { a: 1 } }), now);
  expect(marked.attributes).toEqual(mark === undefined ? { a: 1 } : { a: 1, 'agentlightning.clock_skew_ms': mark });
  expect(hasSkew(marked)).toBe(mark !== undefined);
});
