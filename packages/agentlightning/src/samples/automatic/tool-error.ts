import type { AutomaticRule } from './turn.ts';

/** Blames the call that asked for it when a tool's span ends with an error. */
export const toolError = {
  name: 'tool-error',
  summary: '−1 when a tool that the call asked for failed',
  values: (turns) => turns.map(({ tools }) => (tools.some(({ error }) => error !== null) ? -1 : 0)),
} as const satisfies AutomaticRule;
