import { beginEvents, type Exchange, sendEvent, sendJson } from './exchange.ts';
import { generate, type SentToken } from './generation.ts';
import type { RouteTable, ServerState } from './server-state.ts';

/** Of `sglang.launch_server` 0.5 with `--enable-lora`; streamed answers are told whole each time, as is its default. */
export const sglangRoutes: RouteTable = {
  'GET /health': { answer: (_, { response }) => void response.writeHead(200).end() },
  'GET /get_model_info': { answer: (state, { response }) => sendJson(response, 200, modelInfo(state)) },
  'GET /model_info': { answer: (state, { response }) => sendJson(response, 200, modelInfo(state)) },
  'GET /server_info': {
    answer: ({ contextTokens }, { response }) =>
      sendJson(response, 200, {
        version: '0.5.12',
        context_length: contextTokens,
        max_req_input_len: contextTokens - 6,
      }),
  },
  'GET /v1/models': {
    answer: ({ modelId, contextTokens }, { response }) =>
      sendJson(response, 200, {
        object: 'list',
        data: [{ id: modelId, object: 'model', owned_by: 'sglang', root: modelId, max_model_len: contextTokens }],
      }),
  },
  'POST /load_lora_adapter': {
    answer(state, { body, response }) {
      state.adapters.set(String(body.lora_name), String(body.lora_path));
      sendJson(response, 200, {
        success: true,
        error_message: '',
        loaded_adapters: Object.fromEntries(state.adapters),
      });
    },
  },
  'POST /unload_lora_adapter': {
    answer(state, { body, response }) {
      const known = state.adapters.delete(String(body.lora_name));
      sendJson(response, known ? 200 : 400, { success: known, error_message: known ? '' : 'not loaded' });
    },
  },
  'POST /update_weights_from_disk': {
    answer: (_, { response }) => sendJson(response, 200, { success: true, message: 'Success', num_paused_requests: 0 }),
  },
  'POST /generate': { generates: true, answer: answerGenerate },
};

function modelInfo({ modelId }: ServerState): object {
  return { model_path: modelId, tokenizer_path: modelId, is_generation: true, weight_version: 'default' };
}

async function answerGenerate(state: ServerState, exchange: Exchange): Promise<void> {
  const { body, response } = exchange;
  const promptIds = body.input_ids as number[];
  const parameters = (body.sampling_params ?? {}) as Record<string, unknown>;
  const maxTokens = Number(parameters.max_new_tokens ?? 128);
  if (promptIds.length >= state.contextTokens) {
    const message = `The input (${promptIds.length} tokens) is longer than the model's context length (${state.contextTokens} tokens).`;
    sendJson(response, 400, { error: { message } });
    return;
  }
  const model = String(body.lora_path ?? state.modelId);
  const stop = [parameters.stop ?? []].flat() as string[];
  const generation = generate(state, exchange, { promptIds, model, n: 1, maxTokens, stop });
  const told: SentToken[] = [];
  if (body.stream !== true) {
    for await (const token of generation.tokens) told.push(token);
    sendJson(response, 200, answerBody(exchange, promptIds, told));
    return;
  }
  beginEvents(response);
  for await (const token of generation.tokens) {
    told.push(token);
    sendEvent(response, answerBody(exchange, promptIds, told));
  }
  if (generation.broken() && exchange.fault?.kind === 'error-event')
    sendEvent(response, { error: { message: 'Scheduler hit an exception.' } });
  sendEvent(response, '[DONE]');
  response.end();
}

function answerBody({ body, fault }: Exchange, promptIds: number[], told: SentToken[]): object {
  const reason = told.at(-1)?.finishReason ?? null;
  const withLogProbs = body.return_logprob === true && fault?.kind !== 'no-log-probs';
  const kept = fault?.kind === 'lost-log-prob' ? told.filter((token) => token.place !== 1) : told;
  const logProbs = kept.map((token) => [token.logProb, token.id, null]);
  return {
    text: told.map((token) => token.text).join(''),
    ...(fault?.kind === 'no-ids' ? {} : { output_ids: told.map((token) => token.id) }),
    meta_info: {
      id: 'generate-1',
      finish_reason:
        reason === null
          ? null
          : reason === 'length'
            ? { type: 'length', length: told.length }
            : { type: 'stop', matched: told.at(-1)?.id },
      prompt_tokens: promptIds.length,
      weight_version: 'default',
      ...(withLogProbs ? { input_token_logprobs: [], output_token_logprobs: logProbs } : {}),
      completion_tokens: told.length,
      cached_tokens: 0,
      e2e_latency: 0.01,
    },
  };
}
