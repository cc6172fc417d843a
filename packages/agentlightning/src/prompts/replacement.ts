/** Which system prompts of an agent that cannot be changed are replaced, and by which prompt. */
export interface Replacement {
  prompt: string;
  /** A text that the system prompt contains, or a regular expression (source) whose named groups fill the places. */
  replaces: string | { pattern: string };
}

/** Of the first rule that a system prompt falls under: the prompt's name, and values for its places. */
export function markedPrompt(
  text: string,
  rules: readonly Replacement[],
): { prompt: string; values: Record<string, string> } | null {
  for (const { prompt, replaces } of rules) {
    if (typeof replaces === 'string') {
      if (text.includes(replaces)) return { prompt, values: {} };
      continue;
    }
    const match = new RegExp(replaces.pattern, 's').exec(text);
    if (match === null) continue;
    const groups = Object.entries(match.groups ?? {});
    return { prompt, values: Object.fromEntries(groups.map(([name, value]) => [name, value ?? ''])) };
  }
  return null;
}
