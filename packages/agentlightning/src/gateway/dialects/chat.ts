import { chatAnswer, chatError } from './chat-answer.ts';
import { parseChatRequest } from './chat-request.ts';
import { ChatStream } from './chat-stream.ts';
import type { Dialect } from './dialect.ts';

/** OpenAI chat completions. */
export const chat: Dialect = {
  name: 'chat',
  paths: ['/chat/completions'],
  parse: parseChatRequest,
  answer: chatAnswer,
  stream: (head) => new ChatStream(head),
  error: chatError,
};
