import type { JsonObject } from '../../store/types.ts';
import { noTokenLimit, type ToolCall } from '../../upstreams/index.ts';
import type { Answer, AnswerChoice } from '../answer.ts';
import type { Problem } from '../problem.ts';
import type { AnswerHead } from './dialect.ts';
import { responsePrefix } from './responses-history.ts';

/** How far a response has come. */
export type Progress =
  | { status: 'in_progress' }
  | { status: 'done'; answer: Answer }
  | { status: 'failed'; problem: Problem };

/** The JSON answer. */
export function responsesAnswer(head: AnswerHead, answer: Answer): JsonObject {
  return responseBody(head, { status: 'done', answer });
}

/** A response at any time of its life; what it repeats of the request is what is in force. */
export function responseBody(head: AnswerHead, progress: Progress): JsonObject {
  const { request, turn } = head;
  const choice = progress.status === 'done' ? progress.answer.choices[0] : undefined;
  const cut = choice?.finishReason === 'length';
  const { maxTokens } = turn.sampling;
  return {
    id: `${responsePrefix}${head.id}`,
    object: 'response',
    created_at: head.created,
    status: progress.status === 'done' ? (cut ? 'incomplete' : 'completed') : progress.status,
    background: false,
    error: progress.status === 'failed' ? { code: progress.problem.code, message: progress.problem.message } : null,
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: maxTokens === noTokenLimit ? null : maxTokens,
    model: head.model,
    output: choice === undefined ? [] : outputItems(head, choice),
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: request.reasoning ?? { effort: null, summary: null },
    store: request.store ?? true,
    temperature: turn.sampling.temperature,
    text: request.text ?? { format: { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: turn.sampling.topP,
    truncation: request.truncation ?? 'disabled',
    usage: progress.status === 'done' ? usageBody(progress.answer) : null,
    user: request.user ?? null,
    metadata: request.metadata ?? {},
  };
}

/** One message with all of the text, where text first came, and the calls; an empty answer is an empty message. */
function outputItems(head: AnswerHead, choice: AnswerChoice): JsonObject[] {
  const status = choice.finishReason === 'length' ? 'incomplete' : 'completed';
  const logProbs = head.turn.wantLogProbs ? logProbEntries(choice.tokenTexts, choice.logProbs) : [];
  const message = () => messageItem(head, status, [textPart(choice.content, logProbs)]);
  const items: JsonObject[] = [];
  let calls = 0;
  let spoken = false;
  for (const part of choice.parts) {
    if (part.type === 'reasoning') {
      items.push(reasoningItem(head, part.text));
    } else if (part.type === 'tool-call') {
      items.push(callItem(callItemId(head, calls), part.call, 'completed'));
      calls += 1;
    } else if (!spoken) {
      items.push(message());
      spoken = true;
    }
  }
  return items.length > 0 ? items : [message()];
}

export function messageItem(head: AnswerHead, status: string, content: JsonObject[]): JsonObject {
  return { id: messageItemId(head), type: 'message', status, role: 'assistant', content };
}

/** What the model thought, in its own words: `content`, not a summary of it. */
export function reasoningItem(head: AnswerHead, text: string | null): JsonObject {
  const content = text === null ? [] : [{ type: 'reasoning_text', text }];
  const status = text === null ? 'in_progress' : 'completed';
  return { id: reasoningItemId(head), type: 'reasoning', status, summary: [], content };
}

export function reasoningItemId(head: AnswerHead): string {
  return `rs_${head.id}`;
}

export function messageItemId(head: AnswerHead): string {
  return `msg_${head.id}`;
}

export function textPart(text: string, logProbs: JsonObject[]): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: logProbs };
}

export function callItemId(head: AnswerHead, index: number): string {
  return `fc_${head.id}_${index}`;
}

export function callItem(id: string, call: ToolCall, status: 'in_progress' | 'completed'): JsonObject {
  const text = status === 'completed' ? call.arguments : '';
  return { id, type: 'function_call', status, arguments: text, call_id: call.id, name: call.name };
}

/** `bytes` is empty where the token alone is no whole character. Only the sampled token's log prob is known. */
export function logProbEntries(texts: string[], logProbs: number[]): JsonObject[] {
  return texts.map((token, index) => ({
    token,
    logprob: logProbs[index] ?? null,
    bytes: token.includes('\uFFFD') ? [] : [...Buffer.from(token)],
    top_logprobs: [],
  }));
}

function usageBody(answer: Answer): JsonObject {
  const { promptTokens, completionTokens } = answer.usage;
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokens + completionTokens,
  };
}
