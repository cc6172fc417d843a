import { PromptError } from './errors.ts';

/** A text with places such as `{{question}}` that an agent fills in. */
export interface PromptTemplate {
  template: string;
  /** Names of the places, each once: what every version of the prompt must have. */
  placeholders: string[];
}

const placeholder = /\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}/g;

/** The names of the places of a template, in the order in which they first stand there. Other braces are plain text. */
export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(placeholder)].map((match) => match[1]!))];
}

/**
 * The template with its places filled in. Values are put in as they are, and not looked through for places again.
 * @throws {PromptError} `prompt_value_missing`, `prompt_value_unknown`
 */
export function renderPrompt(
  { template, placeholders }: PromptTemplate,
  values: Readonly<Record<string, string>>,
): string {
  const missing = placeholders.find((name) => !Object.hasOwn(values, name));
  if (missing !== undefined) {
    throw new PromptError({
      code: 'prompt_value_missing',
      message: `The prompt has a place {{${missing}}}, and no value "${missing}" was given.`,
      hint: `Its places: ${placeholders.join(', ')}.`,
    });
  }
  const unknown = Object.keys(values).find((name) => !placeholders.includes(name));
  if (unknown !== undefined) {
    throw new PromptError({
      code: 'prompt_value_unknown',
      message: `A value "${unknown}" was given, and the prompt has no place {{${unknown}}}.`,
      hint: placeholders.length > 0 ? `Its places: ${placeholders.join(', ')}.` : 'It has no places.',
    });
  }
  return template.replaceAll(placeholder, (whole, name: string) => values[name] ?? whole);
}
