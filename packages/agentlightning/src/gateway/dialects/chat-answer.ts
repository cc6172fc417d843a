import type { JsonObject } from '../../store/types.ts';
import type { ToolCall } from '../../upstreams/index.ts';
import type { Answer, AnswerChoice } from '../answer.ts';
import type { Problem } from '../problem.ts';
import type { AnswerHead } from './dialect.ts';

/** The JSON answer. `token_ids` and `prompt_token_ids`, named as vLLM names them, are given when asked for. */
export function chatAnswer(head: AnswerHead, answer: Answer): JsonObject {
  const wantIds = head.turn.extra.return_token_ids === true;
  const body: JsonObject = {
    id: `chatcmpl-${head.id}`,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: answer.choices.map((choice) => choiceBody(choice, head.turn.wantLogProbs, wantIds)),
    usage: usageBody(answer),
  };
  if (wantIds && answer.promptIds !== null) body.prompt_token_ids = Array.from(answer.promptIds);
  return body;
}

function choiceBody(choice: AnswerChoice, wantLogProbs: boolean, wantIds: boolean): JsonObject {
  const message: JsonObject = { role: 'assistant', content: choice.content, refusal: null };
  if (choice.reasoning !== '') message.reasoning_content = choice.reasoning;
  if (choice.toolCalls.length > 0) {
    if (choice.content === '') message.content = null;
    message.tool_calls = choice.toolCalls.map(toolCallBody);
  }
  const body: JsonObject = { index: choice.index, message, logprobs: null, finish_reason: choice.finishReason };
  if (wantLogProbs && choice.tokenTexts.length > 0) {
    body.logprobs = {
      content: choice.tokenTexts.map((text, index) => logProbEntry(text, choice.logProbs[index])),
      refusal: null,
    };
  }
  if (wantIds) body.token_ids = [...choice.tokenIds];
  return body;
}

export function toolCallBody(call: ToolCall): JsonObject {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}

/** `bytes` is null where the token alone is no whole character. Only the sampled token's log prob is known. */
export function logProbEntry(token: string, logProb: number | undefined): JsonObject {
  const bytes = token.includes('\uFFFD') ? null : [...Buffer.from(token)];
  return { token, logprob: logProb ?? null, bytes, top_logprobs: [] };
}

export function usageBody(answer: Answer): JsonObject {
  const { promptTokens, completionTokens } = answer.usage;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** OpenAI's error shape; `type` follows the status as theirs does. */
export function chatError(problem: Problem): JsonObject {
  const { message, field, code } = problem;
  return { error: { message, type: errorType(problem.status), param: field, code } };
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 404) return 'not_found_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
