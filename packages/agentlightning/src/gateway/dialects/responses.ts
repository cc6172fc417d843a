import { chatError } from './chat-answer.ts';
import type { Dialect } from './dialect.ts';
import { responsesAnswer } from './responses-answer.ts';
import { refersBack } from './responses-history.ts';
import { parseResponsesRequest } from './responses-request.ts';
import { ResponsesStream } from './responses-stream.ts';

/** OpenAI Responses: what most agents of 2026 speak by default. */
export const responses: Dialect = {
  name: 'responses',
  about: {
    summary: 'OpenAI Responses',
    reference: 'https://platform.openai.com/docs/api-reference/responses',
    required: ['model', 'input'],
  },
  paths: ['/responses'],
  refersBack,
  parse: parseResponsesRequest,
  answer: responsesAnswer,
  stream: (head) => new ResponsesStream(head),
  error: chatError,
};
