import type { AutomaticRule, TurnTool } from './turn.ts';

function keyOf(agentName: string | null, { name, arguments: text }: TurnTool): string {
  return JSON.stringify([agentName, name, sorted(text)]);
}

/** The same arguments in another order or spacing are the same. */
function sorted(text: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
  } catch {
    return text;
  }
}

/** An agent that asks the same tool the same thing again learned nothing from the first answer. A retry after an error is none. */
export const repeatedCall = {
  name: 'repeated-call',
  summary: '−1 when the same agent had asked the same tool with the same arguments, and got an answer',
  values: (turns) => {
    const answered = new Set<string>();
    return turns.map(({ agentName, tools }) => {
      const keys = tools.map((tool) => keyOf(agentName, tool));
      const again = keys.some((key, at) => answered.has(key) || keys.indexOf(key) < at);
      for (const [at, key] of keys.entries()) if (tools[at]!.error === null) answered.add(key);
      return again ? -1 : 0;
    });
  },
} as const satisfies AutomaticRule;
