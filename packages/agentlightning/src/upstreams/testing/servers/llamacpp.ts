import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beginEvents, type Exchange, losesEvent, sendEvent, sendJson } from './exchange.ts';
import { generate, type SentToken } from './generation.ts';
import type { RouteTable, ServerState } from './server-state.ts';
import { testModelFolder } from './test-model.ts';

/** Of `llama-server` b11549. */
export const llamacppRoutes: RouteTable = {
  'GET /health': { answer: (_, { response }) => sendJson(response, 200, { status: 'ok' }) },
  'GET /props': {
    answer: ({ contextTokens, modelId }, { response }) =>
      sendJson(response, 200, {
        default_generation_settings: { n_ctx: contextTokens },
        ...{ total_slots: 2, model_alias: modelId, model_path: `${modelId}.gguf`, build_info: 'b11549-test' },
        chat_template: readFileSync(join(testModelFolder, 'chat_template.jinja'), 'utf8'),
        ...{ bos_token: '<|im_start|>', eos_token: '<|im_end|>' },
      }),
  },
  'GET /v1/models': {
    answer: ({ modelId, model }, { response }) =>
      sendJson(response, 200, {
        object: 'list',
        data: [
          { id: modelId, object: 'model', owned_by: 'llamacpp', meta: { n_vocab: model.tokenizer.vocabularySize } },
        ],
      }),
  },
  'POST /tokenize': {
    answer: ({ model }, { body, response }) =>
      sendJson(response, 200, { tokens: [...model.tokenizer.encode(String(body.content))] }),
  },
  'POST /detokenize': {
    answer: ({ model }, { body, response }) =>
      sendJson(response, 200, { content: model.tokenizer.decode(body.tokens as number[]) }),
  },
  'POST /apply-template': {
    answer({ model }, { body, response }) {
      const messages = body.messages as [];
      const tools = (body.tools ?? []) as [];
      sendJson(response, 200, { prompt: model.template.render({ messages, tools, addGenerationPrompt: true }) });
    },
  },
  'POST /completion': { generates: true, answer: answerCompletion },
};

async function answerCompletion(state: ServerState, exchange: Exchange): Promise<void> {
  const { body, response } = exchange;
  const prompt = body.prompt as string | number[];
  const promptIds = typeof prompt === 'string' ? [...state.model.tokenizer.encode(prompt)] : prompt;
  if (promptIds.length >= state.contextTokens) {
    const message = `request (${promptIds.length} tokens) exceeds the available context size (${state.contextTokens} tokens), try increasing it`;
    const type = 'exceed_context_size_error';
    const sizes = { n_prompt_tokens: promptIds.length, n_ctx: state.contextTokens };
    sendJson(response, 400, { error: { code: 400, message, type, ...sizes } });
    return;
  }
  const maxTokens = Number(body.n_predict ?? -1);
  const limits = { maxTokens: maxTokens < 0 ? state.contextTokens - promptIds.length : maxTokens };
  const stop = (body.stop ?? []) as string[];
  const generation = generate(state, exchange, { promptIds, model: state.modelId, n: 1, stop, ...limits });
  const told: SentToken[] = [];
  if (body.stream !== true) {
    for await (const token of generation.tokens) told.push(token);
    sendJson(response, 200, { ...finalBody(state, promptIds, told), ...tokensBody(state, exchange, told, told) });
    return;
  }
  beginEvents(response);
  let held: SentToken[] = [];
  for await (const token of generation.tokens) {
    told.push(token);
    held.push(token);
    // A token that ends within a character is told of nowhere, neither its id nor its log prob.
    if (losesEvent(exchange, token.place)) held = [];
    if (losesEvent(exchange, token.place) || withinCharacter(state, told, token)) continue;
    const counts = { tokens_predicted: told.length, tokens_evaluated: promptIds.length };
    const content = held.map(({ text }) => text).join('');
    const partial = { index: 0, content, stop: false, id_slot: -1, ...counts };
    sendEvent(response, { ...partial, ...tokensBody(state, exchange, [token], told) });
    held = [];
  }
  if (generation.broken()) response.end();
  else {
    sendEvent(response, { ...finalBody(state, promptIds, told), content: '', tokens: [] });
    response.end();
  }
}

function tokensBody(state: ServerState, { body, fault }: Exchange, sent: SentToken[], told: SentToken[]): object {
  const wantsIds = (body.return_tokens === true || body.stream === true) && fault?.kind !== 'no-ids';
  const tokens = wantsIds ? sent.map((token) => token.id) : [];
  if (!(Number(body.n_probs) > 0) || fault?.kind === 'no-log-probs') return { tokens };
  const whole = sent.filter((token) => !withinCharacter(state, told, token));
  const kept = fault?.kind === 'lost-log-prob' ? whole.filter((token) => token.place !== 1) : whole;
  const completion_probabilities = kept.map(({ id, text, logProb: logprob }) => {
    const one = { id, token: text, bytes: [...Buffer.from(text)], logprob };
    return { ...one, top_logprobs: [one] };
  });
  return { tokens, completion_probabilities };
}

/** The text up to this token ends within a character, and more is to come. */
function withinCharacter({ model }: ServerState, told: SentToken[], { place, finishReason }: SentToken): boolean {
  const ids = told.slice(0, place + 1).map(({ id }) => id);
  return finishReason === null && model.tokenizer.decode(ids).endsWith('\uFFFD');
}

function finalBody({ modelId }: ServerState, promptIds: number[], told: SentToken[]): object {
  const stopType = told.at(-1)?.finishReason === 'length' ? 'limit' : 'eos';
  return {
    ...{ index: 0, content: told.map((token) => token.text).join(''), id_slot: 0, stop: true, model: modelId },
    ...{ tokens_predicted: told.length, tokens_evaluated: promptIds.length, truncated: false },
    ...{ stop_type: stopType, stopping_word: '', generation_settings: {} },
  };
}
