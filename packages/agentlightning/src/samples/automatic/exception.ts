import type { AutomaticRule } from './turn.ts';

/** Blames the last call before the agent's own code raised something, for instance while it read the answer. */
export const exception = {
  name: 'exception',
  summary: '−1 when the agent’s code raised an exception after the call',
  values: (turns) => turns.map(({ exceptions }) => (exceptions.length > 0 ? -1 : 0)),
} as const satisfies AutomaticRule;
