import type { AutomaticRule } from './turn.ts';

/**
 * DAPO's soft punishment of overlong answers (arXiv 2503.14476, eq. 13): 0 up to limit − buffer tokens, then falling in a
 * line to −1 at the limit, and −1 beyond.
 */
export const length = {
  name: 'length',
  summary: 'from 0 at `limit` − `buffer` tokens of an answer down to −1 at `limit` (DAPO)',
  values: (turns, { limit, buffer }) =>
    turns.map(({ sampledTokens }) => {
      if (sampledTokens <= limit - buffer) return 0; // first, so that no buffer divides by 0
      return sampledTokens >= limit ? -1 : (limit - buffer - sampledTokens) / buffer;
    }),
} as const satisfies AutomaticRule;
