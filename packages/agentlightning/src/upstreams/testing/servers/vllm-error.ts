import type { ServerResponse } from 'node:http';
import { sendJson } from './exchange.ts';
import type { ServerState } from './server-state.ts';

export function vllmError(
  response: ServerResponse,
  status: number,
  message: string,
  type: string,
  param: string | null = null,
): void {
  sendJson(response, status, { error: { message, type, param, code: status } });
}

/** @returns true when the request has been refused */
export function refusedByVllm(
  { contextTokens, modelId, adapters }: ServerState,
  response: ServerResponse,
  { promptIds, model, maxTokens }: { promptIds: number[]; model: string; maxTokens: number },
): boolean {
  if (model !== modelId && !adapters.has(model)) {
    vllmError(response, 404, `The model \`${model}\` does not exist.`, 'NotFoundError', 'model');
  } else if (promptIds.length >= contextTokens) {
    const said = `This model's maximum context length is ${contextTokens} tokens. However, your prompt contains ${promptIds.length} input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=${promptIds.length})`;
    vllmError(response, 400, said, 'BadRequestError', 'input_tokens');
  } else if (promptIds.length + maxTokens > contextTokens) {
    const said = `This model's maximum context length is ${contextTokens} tokens. However, you requested ${maxTokens} output tokens and your prompt contains at least ${promptIds.length} input tokens, for a total of at least ${promptIds.length + maxTokens} tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=${promptIds.length})`;
    vllmError(response, 400, said, 'BadRequestError', 'input_tokens');
  } else {
    return false;
  }
  return true;
}
