import { beginEvents, type Exchange, losesEvent, sendEvent, sendJson } from './exchange.ts';
import { generate, type SentToken } from './generation.ts';
import { CallDeltas, callsOf } from './hermes-calls.ts';
import type { ServerState } from './server-state.ts';
import { usageBody } from './vllm-completions.ts';
import { refusedByVllm } from './vllm-error.ts';
import { chatLogProbs } from './vllm-log-probs.ts';

type Body = Record<string, unknown>;

/** `/v1/chat/completions`: the server renders, and parses calls of the Hermes form when tools are offered. */
export async function answerChat(state: ServerState, exchange: Exchange): Promise<void> {
  const { body, response } = exchange;
  const promptIds = chatPrompt(state, body);
  const model = String(body.model ?? state.modelId);
  const room = Math.max(state.contextTokens - promptIds.length, 1);
  const maxTokens = ((body.max_completion_tokens ?? body.max_tokens) as number | undefined) ?? room;
  if (refusedByVllm(state, response, { promptIds, model, maxTokens })) return;
  const stop = [body.stop ?? []].flat() as string[];
  const generation = generate(state, exchange, { promptIds, model, n: Number(body.n ?? 1), maxTokens, stop });
  if (body.stream === true) await stream(state, exchange, generation, promptIds, model);
  else await whole(state, exchange, generation, promptIds, model);
}

export function chatPrompt({ model }: ServerState, body: Body): number[] {
  const text = model.template.render({
    messages: body.messages as [],
    tools: (body.tools ?? []) as [],
    addGenerationPrompt: body.add_generation_prompt !== false,
    variables: (body.chat_template_kwargs ?? {}) as Body,
  });
  return [...model.tokenizer.encode(text)];
}

async function stream(
  state: ServerState,
  exchange: Exchange,
  generation: ReturnType<typeof generate>,
  promptIds: number[],
  model: string,
): Promise<void> {
  const { body, response } = exchange;
  const wantsIds = givesIds(state, exchange);
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model };
  beginEvents(response);
  for (const index of generation.logged.answers.keys()) {
    const choice = { index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null };
    sendEvent(response, { ...head, choices: [choice], prompt_token_ids: wantsIds ? promptIds : null });
  }
  const calls = generation.logged.answers.map(() => new CallDeltas(offersTools(body)));
  let completionTokens = 0;
  for await (const token of generation.tokens) {
    completionTokens += 1;
    const parser = calls[token.choice]!;
    if (losesEvent(exchange, token.place)) continue;
    const delta = parser.push(token.text, token.finishReason !== null);
    const reason = token.finishReason === 'stop' && parser.count > 0 ? 'tool_calls' : token.finishReason;
    const choice = {
      ...{ index: token.choice, delta, logprobs: chatLogProbs(state, body, [token], exchange.fault) },
      ...{ finish_reason: reason, token_ids: wantsIds ? [token.id] : null },
    };
    sendEvent(response, { ...head, choices: [choice] });
  }
  if (generation.broken() && exchange.fault?.kind === 'error-event') {
    const error = { message: 'EngineCore encountered an issue.', type: 'InternalServerError', param: null, code: 500 };
    sendEvent(response, { error });
  } else if ((body.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true) {
    sendEvent(response, { ...head, choices: [], usage: usageBody(promptIds, completionTokens) });
  }
  sendEvent(response, '[DONE]');
  response.end();
}

async function whole(
  state: ServerState,
  exchange: Exchange,
  generation: ReturnType<typeof generate>,
  promptIds: number[],
  model: string,
): Promise<void> {
  const { body, fault, response } = exchange;
  const wantsIds = givesIds(state, exchange);
  const tokens: SentToken[] = [];
  for await (const token of generation.tokens) tokens.push(token);
  const choices = generation.logged.answers.map((answer, index) => {
    const own = tokens.filter((token) => token.choice === index);
    const text = own.map((token) => token.text).join('');
    const { content, calls } = offersTools(body) ? callsOf(text) : { content: text, calls: [] };
    const message = { role: 'assistant', content, refusal: null, tool_calls: calls, reasoning: null };
    const called = calls.length > 0 && answer.finishReason === 'stop';
    return {
      ...{ index, message, logprobs: chatLogProbs(state, body, own, fault), stop_reason: null },
      ...{ finish_reason: called ? 'tool_calls' : answer.finishReason },
      token_ids: wantsIds ? own.map((token) => token.id) : null,
    };
  });
  sendJson(response, 200, {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model, choices },
    usage: usageBody(promptIds, tokens.length),
    prompt_token_ids: wantsIds ? promptIds : null,
  });
}

function givesIds(state: ServerState, { body, fault }: Exchange): boolean {
  return body.return_token_ids === true && state.options.withoutTokenIds !== true && fault?.kind !== 'no-ids';
}

function offersTools(body: Body): boolean {
  return Array.isArray(body.tools) && body.tools.length > 0 && body.tool_choice !== 'none';
}
