import { PromptError } from './errors.ts';
import { type PromptTemplate, placeholdersOf } from './template.ts';

export type PromptFaultCode =
  | 'prompt_empty'
  | 'prompt_placeholder_lost'
  | 'prompt_placeholder_unknown'
  | 'prompt_placeholders_contradictory';

export interface PromptFault {
  code: PromptFaultCode;
  /** Goes on behind the prompt's name: `has no place {{question}}`. */
  message: string;
  hint: string;
}

/** What is wrong with a template, or null. The first fault of several. */
export function promptFault({ template, placeholders }: PromptTemplate): PromptFault | null {
  if (template.trim() === '') {
    return { code: 'prompt_empty', message: 'is empty', hint: 'Give it a text.' };
  }
  const present = placeholdersOf(template);
  const contradiction = contradictionOf(template, placeholders, present);
  if (contradiction !== null) return { code: 'prompt_placeholders_contradictory', ...contradiction };
  const lost = placeholders.find((name) => !present.includes(name));
  if (lost !== undefined) {
    return {
      code: 'prompt_placeholder_lost',
      message: `declares the place {{${lost}}}, and its text has none`,
      hint: present.length > 0 ? `Its text has ${present.map(braced).join(', ')}.` : 'Its text has no place at all.',
    };
  }
  const unknown = present.find((name) => !placeholders.includes(name));
  if (unknown === undefined) return null;
  return {
    code: 'prompt_placeholder_unknown',
    message: `has a place {{${unknown}}} that is not declared`,
    hint: placeholders.length > 0 ? `Declared: ${placeholders.map(braced).join(', ')}.` : 'None is declared.',
  };
}

/**
 * @param name how the person calls the prompt
 * @throws {PromptError} with the fault's code
 */
export function assertPrompt(name: string, prompt: PromptTemplate): void {
  const fault = promptFault(prompt);
  if (fault === null) return;
  throw new PromptError({ code: fault.code, message: `The prompt "${name}" ${fault.message}.`, hint: fault.hint });
}

/** Two readings are possible: a name twice, names that differ by case alone, or `{name}` beside `{{name}}`. */
function contradictionOf(
  template: string,
  placeholders: readonly string[],
  present: readonly string[],
): Pick<PromptFault, 'message' | 'hint'> | null {
  const twice = placeholders.find((name, index) => placeholders.indexOf(name) < index);
  if (twice !== undefined) return { message: `declares {{${twice}}} twice`, hint: 'Name each place once.' };
  const names = [...new Set([...placeholders, ...present])];
  for (const [index, name] of names.entries()) {
    const other = names.slice(0, index).find((each) => each.toLowerCase() === name.toLowerCase());
    if (other === undefined) continue;
    return { message: `has both {{${other}}} and {{${name}}}`, hint: 'Write the name of a place in one way.' };
  }
  const single = names.find((name) => new RegExp(`(?<!\\{)\\{[ \\t]*${name}[ \\t]*\\}(?!\\})`).test(template));
  if (single === undefined) return null;
  return {
    message: `has {${single}} with single braces, which stays as it is, for the place {{${single}}}`,
    hint: 'Places have double braces.',
  };
}

const braced = (name: string): string => `{{${name}}}`;
