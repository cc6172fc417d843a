import { type Attempt, currentAttempt } from './attempt.ts';

const retryDelaysMs = [100, 400, 1600];
const requestTimeoutMs = 10_000;
const place = /\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}/g;

export interface Prompt {
  name: string;
  /** Null outside of a run. */
  version: number | null;
  /** With places such as `{{question}}`. */
  template: string;
  placeholders: string[];
  /** The text with its places filled in. @throws {PromptError} for a place without a value, or a value without a place */
  render(values?: Readonly<Record<string, string>>): string;
}

export interface GetPromptOptions {
  /** The template to use outside of a run. */
  fallback?: string;
}

/** The prompt cannot be had, or cannot be filled in. Unlike a report, an agent cannot go on without its prompt. */
export class PromptError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PromptError';
    this.code = code;
  }
}

/**
 * A prompt of the store, in the version that this attempt runs with. Ask for it in each attempt anew. Outside of a run
 * it is the `fallback`; within one never, because the attempt's reward would be taken for that of the prompt it did not use.
 *
 * @throws {PromptError} `prompt_not_found`, `prompt_unavailable`, `prompt_outside_of_run`
 */
export async function getPrompt(name: string, { fallback }: GetPromptOptions = {}): Promise<Prompt> {
  const attempt = currentAttempt();
  if (attempt !== null) return fetchPrompt(attempt, name);
  if (fallback !== undefined) {
    const placeholders = [...new Set([...fallback.matchAll(place)].map((match) => match[1]!))];
    return withRender({ name, version: null, template: fallback, placeholders });
  }
  const message = `The prompt "${name}" was asked for outside of a run (AGL_ENDPOINT, AGL_ATTEMPT_ID and a key are not set): give it a fallback.`;
  throw new PromptError('prompt_outside_of_run', message);
}

async function fetchPrompt({ endpoint, token }: Attempt, name: string): Promise<Prompt> {
  const url = `${endpoint}/agl/v1/prompts/${encodeURIComponent(name)}`;
  for (const delayMs of [...retryDelaysMs, null]) {
    let problem: string;
    let cause: unknown;
    try {
      const signal = AbortSignal.timeout(requestTimeoutMs);
      const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal });
      const text = await answer.text();
      if (answer.ok) return withRender(JSON.parse(text) as Omit<Prompt, 'render'>);
      problem = `${url} answers ${answer.status}: ${text.slice(0, 500)}`;
      if (answer.status !== 429 && answer.status < 500) {
        throw new PromptError(answer.status === 404 ? 'prompt_not_found' : 'prompt_unavailable', problem);
      }
    } catch (error) {
      if (error instanceof PromptError) throw error;
      problem = `${url} cannot be read: ${String(error)}`;
      cause = error;
    }
    if (delayMs === null) throw new PromptError('prompt_unavailable', problem, { cause });
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
  throw new PromptError('prompt_unavailable', `${url} cannot be read.`);
}

function withRender(prompt: Omit<Prompt, 'render'>): Prompt {
  return { ...prompt, render: (values = {}) => render(prompt, values) };
}

function render({ name, template, placeholders }: Omit<Prompt, 'render'>, values: Readonly<Record<string, string>>) {
  const missing = placeholders.find((each) => !Object.hasOwn(values, each));
  if (missing !== undefined) {
    throw new PromptError('prompt_value_missing', `The prompt "${name}" has a place {{${missing}}} and got no value.`);
  }
  const unknown = Object.keys(values).find((each) => !placeholders.includes(each));
  if (unknown !== undefined) {
    throw new PromptError('prompt_value_unknown', `The prompt "${name}" has no place {{${unknown}}}.`);
  }
  return template.replaceAll(place, (whole, each: string) => values[each] ?? whole);
}
