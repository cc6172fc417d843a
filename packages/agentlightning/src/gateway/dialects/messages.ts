import type { Dialect } from './dialect.ts';
import { messagesAnswer, messagesError } from './messages-answer.ts';
import { parseMessagesRequest } from './messages-request.ts';
import { MessagesStream } from './messages-stream.ts';

const countPath = '/messages/count_tokens';

/** Anthropic Messages. Its clients add `/v1` themselves, so a base URL that ends in `/v1` makes it twice. */
export const messages: Dialect = {
  name: 'messages',
  about: {
    summary: 'Anthropic Messages',
    reference: 'https://docs.claude.com/en/api/messages',
    required: ['model', 'messages'],
  },
  paths: ['/messages', countPath, '/v1/messages', `/v1${countPath}`],
  parse: parseMessagesRequest,
  count: {
    matches: (path) => path.endsWith(countPath),
    answer: (promptTokens) => ({ input_tokens: promptTokens }),
  },
  answer: messagesAnswer,
  stream: (head) => new MessagesStream(head),
  error: messagesError,
};
