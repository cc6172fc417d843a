import type { Json, JsonObject, Resource } from '../store/types.ts';
import { PromptError } from './errors.ts';
import type { PromptTemplate } from './template.ts';

/** A prompt as a resource of the store keeps it. `lineage` tells how it was made. */
export interface PromptContent extends PromptTemplate {
  lineage?: JsonObject;
}

export function promptContent({ template, placeholders, lineage }: PromptContent): JsonObject {
  return { template, placeholders, ...(lineage === undefined ? {} : { lineage }) };
}

/** @throws {PromptError} `not_a_prompt` for a resource of another kind, or another program's content */
export function readPrompt({ name, version, kind, content }: Pick<Resource, 'name' | 'version' | 'kind' | 'content'>) {
  const { template, placeholders, lineage } = content;
  if (kind !== 'prompt' || typeof template !== 'string' || !isNames(placeholders)) {
    throw new PromptError({
      code: 'not_a_prompt',
      message: `Version ${version} of the resource "${name}" is no prompt with "template" and "placeholders".`,
      hint: 'Give prompts names that no other resource has.',
    });
  }
  const prompt: PromptContent = { template, placeholders };
  return isObject(lineage) ? { ...prompt, lineage } : prompt;
}

function isNames(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
