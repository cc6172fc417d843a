import type { Dialect } from './dialect.ts';
import { geminiAnswer, geminiError } from './gemini-answer.ts';
import { parseGeminiRequest } from './gemini-request.ts';
import { GeminiStream } from './gemini-stream.ts';

/** Google's generateContent; model and method are in the path. A stream is server-sent events, as with `alt=sse`. */
export const gemini: Dialect = {
  name: 'gemini',
  about: {
    summary: 'Gemini generateContent and streamGenerateContent',
    reference: 'https://ai.google.dev/api/generate-content',
    required: ['contents'],
  },
  paths: ['/v1beta/models/*', '/models/*'],
  parse: parseGeminiRequest,
  count: {
    matches: (path) => path.endsWith(':countTokens'),
    answer: (promptTokens) => ({ totalTokens: promptTokens }),
  },
  answer: geminiAnswer,
  stream: (head) => new GeminiStream(head),
  error: geminiError,
};
