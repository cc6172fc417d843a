import { sendJson } from './exchange.ts';
import type { RouteTable, ServerState } from './server-state.ts';
import { answerChat, chatPrompt } from './vllm-chat.ts';
import { answerCompletion } from './vllm-completions.ts';
import { vllmError } from './vllm-error.ts';

/** Of `vllm serve` 0.32.0 with `--enable-lora --enable-auto-tool-choice --tool-call-parser hermes`. */
export const vllmRoutes: RouteTable = {
  'GET /health': { answer: (_, { response }) => void response.writeHead(200).end() },
  'GET /version': { answer: (_, { response }) => sendJson(response, 200, { version: '0.32.0' }) },
  'GET /metrics': {
    answer: (_, { response }) =>
      void response
        .writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
        .end('# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model_name="test-model"} 0.0\n'),
  },
  'GET /openapi.json': {
    answer: (state, { response }) => sendJson(response, 200, { openapi: '3.1.0', paths: paths(state) }),
  },
  'GET /v1/models': {
    answer: (state, { response }) => sendJson(response, 200, { object: 'list', data: cards(state) }),
  },
  'POST /tokenize': {
    answer(state, { body, response }) {
      const { model, contextTokens } = state;
      const tokens =
        body.messages === undefined ? [...model.tokenizer.encode(String(body.prompt))] : chatPrompt(state, body);
      sendJson(response, 200, { count: tokens.length, max_model_len: contextTokens, tokens, token_strs: null });
    },
  },
  'POST /detokenize': {
    answer: ({ model }, { body, response }) =>
      sendJson(response, 200, { prompt: model.tokenizer.decode(body.tokens as number[]) }),
  },
  'POST /v1/load_lora_adapter': {
    answer(state, { body, response }) {
      const name = String(body.lora_name);
      if (state.options.withoutAdapters === true) sendJson(response, 404, { detail: 'Not Found' });
      else if (state.adapters.has(name) && body.load_inplace !== true)
        vllmError(response, 400, `The lora adapter '${name}' has already been loaded.`, 'InvalidUserInput');
      else {
        state.adapters.set(name, String(body.lora_path));
        response.writeHead(200).end(`Success: LoRA adapter '${name}' added successfully.`);
      }
    },
  },
  'POST /v1/unload_lora_adapter': {
    answer(state, { body, response }) {
      const name = String(body.lora_name);
      if (!state.adapters.delete(name))
        vllmError(response, 404, `The lora adapter '${name}' cannot be found.`, 'NotFoundError');
      else response.writeHead(200).end(`Success: LoRA adapter '${name}' removed successfully.`);
    },
  },
  'POST /inference/v1/generate': {
    answer: (_, { response }) =>
      vllmError(
        response,
        403,
        'Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.',
        'PermissionDeniedError',
      ),
  },
  'POST /v1/completions': { generates: true, answer: answerCompletion },
  'POST /v1/chat/completions': { generates: true, answer: answerChat },
};

function paths({ options }: ServerState): Record<string, object> {
  const adapters =
    options.withoutAdapters === true ? {} : { '/v1/load_lora_adapter': {}, '/v1/unload_lora_adapter': {} };
  return { '/v1/completions': {}, '/v1/chat/completions': {}, '/tokenize': {}, '/detokenize': {}, ...adapters };
}

function cards({ modelId, contextTokens, adapters }: ServerState): object[] {
  const card = { object: 'model', created: 1_700_000_000, owned_by: 'vllm', permission: [] };
  const base = { id: modelId, ...card, root: modelId, parent: null, max_model_len: contextTokens };
  const loaded = [...adapters].map(([id, root]) => ({ id, ...card, root, parent: modelId, max_model_len: null }));
  return [base, ...loaded];
}
