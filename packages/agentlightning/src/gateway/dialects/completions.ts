import { chatError } from './chat-answer.ts';
import { completionsAnswer } from './completions-answer.ts';
import { parseCompletionsRequest } from './completions-request.ts';
import { CompletionsStream } from './completions-stream.ts';
import type { Dialect } from './dialect.ts';

/** OpenAI's older completions: a raw prompt, as text or as token ids, for harnesses that write their own templates. */
export const completions: Dialect = {
  name: 'completions',
  about: {
    summary: 'OpenAI completions: raw prompts, as text or token ids',
    reference: 'https://platform.openai.com/docs/api-reference/completions',
    required: ['model', 'prompt'],
  },
  paths: ['/completions'],
  parse: parseCompletionsRequest,
  answer: completionsAnswer,
  stream: (head) => new CompletionsStream(head),
  error: chatError,
};
