import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { assertPrompt, PromptError, type PromptTemplate, placeholdersOf, type Replacement } from '../prompts/index.ts';
import { ConfigError } from './errors.ts';
import { count, text } from './fields.ts';

const placeholderName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);
const promptName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/);

const rest = {
  placeholders: z.array(placeholderName).optional(),
  maxCharacters: count.optional(),
  replaces: z.union([text, z.strictObject({ pattern: text })]).optional(),
};
const prompt = z.union([text, z.strictObject({ text: z.string(), ...rest }), z.strictObject({ file: text, ...rest })]);

/** `prompts`: texts that agents read from the store instead of having them in their code. */
export const prompts = z.record(promptName, prompt).default({});

export type PromptsConfig = z.output<typeof prompts>;

/** A prompt of the configuration, checked. */
export interface ConfiguredPrompt extends PromptTemplate {
  name: string;
  /** Candidates of a prompt algorithm may have as many. */
  maxCharacters: number | null;
  /** For an agent that cannot be changed: the system prompts that this one takes the place of. */
  replaces: Replacement['replaces'] | null;
}

/** A copy whose prompts all stand in it, so that a run that goes on later has the same. */
export async function withPromptTexts(prompts: PromptsConfig): Promise<PromptsConfig> {
  const entries = Object.entries(prompts).map(async ([name, prompt]) => {
    if (typeof prompt === 'string' || !('file' in prompt)) return [name, prompt] as const;
    const { file, ...others } = prompt;
    const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
    return [name, { text, ...others }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * The prompts with their places, which are those of the text where none are declared.
 * @param taken names of other resources
 * @throws {ConfigError} `prompt_name_taken`, `prompt_without_placeholders`, `prompt_pattern_invalid`, `prompt_place_unfilled`
 * @throws {PromptError} for a text that contradicts its declaration
 */
export function configuredPrompts(prompts: PromptsConfig, taken: readonly string[] = []): ConfiguredPrompt[] {
  return Object.entries(prompts).map(([name, given]) => {
    const spec = typeof given === 'string' ? { text: given } : given;
    if (!('text' in spec)) throw new TypeError(`prompts.${name} has not been read from its file`);
    if (taken.includes(name)) {
      throw new ConfigError({
        code: 'prompt_name_taken',
        message: `prompts.${name} has the name of a policy or model.`,
        hint: 'Give the prompt another name.',
      });
    }
    const { text: template, replaces = null, maxCharacters = null } = spec;
    const placeholders = spec.placeholders ?? placeholdersOf(template);
    if (placeholders.length === 0 && spec.placeholders === undefined && replaces === null) {
      throw new PromptError({
        code: 'prompt_without_placeholders',
        message: `prompts.${name} has no place such as {{question}} for the agent to fill in.`,
        hint: 'If it is meant to be a fixed text, say so with `placeholders: []`.',
      });
    }
    const prompt: ConfiguredPrompt = { name, template, placeholders, maxCharacters, replaces };
    assertPrompt(name, prompt);
    assertFilled(prompt);
    return prompt;
  });
}

/** The rules for the gateway. */
export function replacementsOf(prompts: readonly ConfiguredPrompt[]): Replacement[] {
  return prompts.flatMap(({ name, replaces }) => (replaces === null ? [] : [{ prompt: name, replaces }]));
}

/** Nobody but the rule fills the places of a prompt that the gateway puts in. */
function assertFilled({ name, placeholders, replaces }: ConfiguredPrompt): void {
  if (replaces === null) return;
  const filled = typeof replaces === 'string' ? [] : groupsOf(name, replaces.pattern);
  const open = placeholders.find((each) => !filled.includes(each));
  if (open === undefined) return;
  throw new ConfigError({
    code: 'prompt_place_unfilled',
    message: `prompts.${name}.replaces fills no place {{${open}}}.`,
    hint: `Give a pattern with a group of that name: { pattern: '…(?<${open}>.+)…' }.`,
  });
}

function groupsOf(name: string, pattern: string): string[] {
  try {
    // An alternative that matches everywhere makes the groups known without a text that fits.
    return Object.keys(new RegExp(`${pattern}|`, 's').exec('')?.groups ?? {});
  } catch (cause) {
    throw new ConfigError({
      code: 'prompt_pattern_invalid',
      message: `prompts.${name}.replaces.pattern is no regular expression: ${cause instanceof Error ? cause.message : cause}`,
      hint: 'It is written as in JavaScript, without slashes.',
      cause,
    });
  }
}
