import type { JsonObject } from '../../store/types.ts';
import type { Answer, AnswerChoice, AnswerPart } from '../answer.ts';
import type { Problem } from '../problem.ts';
import { argumentsValue } from './call-arguments.ts';
import type { AnswerHead } from './dialect.ts';

/** The JSON answer. */
export function messagesAnswer(head: AnswerHead, answer: Answer): JsonObject {
  const choice = answer.choices[0];
  return {
    ...messageStart(head),
    content: (choice?.parts ?? []).map(blockBody),
    stop_reason: stopReason(choice?.finishReason),
    usage: usageBody(answer.usage.promptTokens, answer.usage.completionTokens),
  };
}

/** The message before anything of it has been said. */
export function messageStart(head: AnswerHead): JsonObject {
  return {
    id: `msg_${head.id}`,
    type: 'message',
    role: 'assistant',
    model: head.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageBody(0, 0),
  };
}

export function usageBody(inputTokens: number, outputTokens: number): JsonObject {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  };
}

function blockBody(part: AnswerPart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  // Nobody signs a local model's thinking; clients want the field.
  if (part.type === 'reasoning') return { type: 'thinking', thinking: part.text, signature: '' };
  const { id, name, arguments: text } = part.call;
  return { type: 'tool_use', id, name, input: argumentsValue(text) };
}

/** Upstreams do not tell an end of turn from a stop text, so `stop_sequence` is never given. */
export function stopReason(reason: AnswerChoice['finishReason'] | undefined): string {
  if (reason === 'length') return 'max_tokens';
  return reason === 'tool_calls' ? 'tool_use' : 'end_turn';
}

/** Anthropic's error shape has no place for the field, so the message alone names it. */
export function messagesError({ status, message }: Problem): JsonObject {
  return { type: 'error', error: { type: errorType(status), message } };
}

const errorTypes: { [status: number]: string } = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

function errorType(status: number): string {
  return errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}
