import { beginEvents, type Exchange, losesEvent, sendEvent, sendJson } from './exchange.ts';
import { generate, type SentToken } from './generation.ts';
import type { ServerState } from './server-state.ts';
import { refusedByVllm } from './vllm-error.ts';
import { tokenName, withoutOne } from './vllm-log-probs.ts';

/** `/v1/completions`: text or token ids in. */
export async function answerCompletion(state: ServerState, exchange: Exchange): Promise<void> {
  const { body, response } = exchange;
  const prompt = body.prompt as string | number[];
  const promptIds = typeof prompt === 'string' ? [...state.model.tokenizer.encode(prompt)] : prompt;
  const model = String(body.model ?? state.modelId);
  const maxTokens = (body.max_tokens as number | null) ?? 16;
  if (refusedByVllm(state, response, { promptIds, model, maxTokens })) return;
  const stop = [body.stop ?? []].flat() as string[];
  const generation = generate(state, exchange, { promptIds, model, n: Number(body.n ?? 1), maxTokens, stop });
  if (body.stream === true) await stream(state, exchange, generation, promptIds, model);
  else await whole(state, exchange, generation, promptIds, model);
}

async function stream(
  state: ServerState,
  exchange: Exchange,
  generation: ReturnType<typeof generate>,
  promptIds: number[],
  model: string,
): Promise<void> {
  const { body, response } = exchange;
  beginEvents(response);
  const head = { id: 'cmpl-1', object: 'text_completion', created: 1_700_000_000, model };
  const sent = new Set<number>();
  let completionTokens = 0;
  for await (const token of generation.tokens) {
    if (losesEvent(exchange, token.place)) {
      completionTokens += 1;
      continue;
    }
    const first = !sent.has(token.choice);
    sent.add(token.choice);
    completionTokens += 1;
    const choice = choiceBody(state, exchange, [token], first ? promptIds : null);
    sendEvent(response, { ...head, choices: [{ index: token.choice, text: token.text, ...choice }] });
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
  const tokens: SentToken[] = [];
  for await (const token of generation.tokens) tokens.push(token);
  const choices = generation.logged.answers.map((_, index) => {
    const own = tokens.filter((token) => token.choice === index);
    const text = own.map((token) => token.text).join('');
    return { index, text, ...choiceBody(state, exchange, own, promptIds), prompt_logprobs: null };
  });
  sendJson(exchange.response, 200, {
    ...{ id: 'cmpl-1', object: 'text_completion', created: 1_700_000_000, model, choices },
    usage: usageBody(promptIds, tokens.length),
  });
}

function choiceBody(state: ServerState, exchange: Exchange, tokens: SentToken[], promptIds: number[] | null): object {
  const { body, fault } = exchange;
  const wantsIds = body.return_token_ids === true && state.options.withoutTokenIds !== true && fault?.kind !== 'no-ids';
  const wantsLogProbs = typeof body.logprobs === 'number' && fault?.kind !== 'no-log-probs';
  const told = withoutOne(tokens, fault);
  const names = told.map((token) => tokenName(state, body, token.id, fault));
  const offsets = names.map((_, index) => names.slice(0, index).join('').length);
  const logprobs = {
    text_offset: offsets,
    token_logprobs: told.map((token) => token.logProb),
    tokens: names,
    top_logprobs: told.map((token, index) => ({ [names[index] ?? '']: token.logProb })),
  };
  return {
    logprobs: wantsLogProbs ? logprobs : null,
    finish_reason: tokens.at(-1)?.finishReason ?? null,
    stop_reason: null,
    prompt_token_ids: wantsIds ? promptIds : null,
    token_ids: wantsIds ? tokens.map((token) => token.id) : null,
  };
}

export function usageBody(promptIds: number[], completionTokens: number): object {
  return {
    prompt_tokens: promptIds.length,
    total_tokens: promptIds.length + completionTokens,
    completion_tokens: completionTokens,
  };
}
