/**
 * Prompt templates as data: their placeholders, what may be wrong with them, how they are filled in and kept in a store.
 * Pure functions; must not know who serves a prompt, who makes it better, or where its text came from.
 */
export { PromptError } from './errors.ts';
export { assertPrompt, promptFault } from './faults.ts';
export { markedPrompt, type Replacement } from './replacement.ts';
export { promptContent, readPrompt } from './resource.ts';
export { type PromptTemplate, placeholdersOf, renderPrompt } from './template.ts';
