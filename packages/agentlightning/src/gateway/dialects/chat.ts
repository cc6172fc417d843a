import { chatAnswer, chatError } from './chat-answer.ts';
import { parseChatRequest } from './chat-request.ts';
import { ChatStream } from './chat-stream.ts';
import type { Dialect } from './dialect.ts';

/** OpenAI chat completions. */
export const chat: Dialect = {
  name: 'chat',
  about: {
    summary: 'OpenAI chat completions',
    reference: 'https://platform.openai.com/docs/api-reference/chat',
    required: ['model', 'messages'],
  },
  paths: ['/chat/completions'],
  parse: parseChatRequest,
  answer: chatAnswer,
  stream: (head) => new ChatStream(head),
  error: chatError,
};
