import type { JsonObject } from '../store/types.ts';
import { type ModelServer, parseEvent } from './http.ts';
import { brokenStream } from './http-errors.ts';
import { pickFields } from './sampling-extras.ts';
import type { ServedModel } from './served-versions.ts';
import type { TokenPiece, TokenRequest } from './token-server.ts';
import { logProbsOf, numbersOf, objectOf } from './tokens-from-json.ts';

/** Fields of vLLM's `/v1/completions` that a client may set through the gateway. */
const passed = [
  ...['frequency_penalty', 'presence_penalty', 'repetition_penalty', 'min_p', 'logit_bias', 'min_tokens'],
  ...[
    'ignore_eos',
    'bad_words',
    'allowed_token_ids',
    'response_format',
    'structured_outputs',
    'priority',
    'cache_salt',
  ],
];

/**
 * Samples through `/v1/completions` with token ids in and out (vLLM 0.10.2 and later; before it, ids come as the names of
 * tokens in the log probs). The log probs are of the raw distribution, which is the policy's own at temperature 1.
 */
export async function sampleFromVllm(
  server: ModelServer,
  { modelId, version }: ServedModel,
  request: TokenRequest,
  tell: (piece: TokenPiece) => void,
): Promise<'stop' | 'length'> {
  let finish: string | null = null;
  let told = 0;
  await server.events('/v1/completions', completionBody(modelId, request), request, (data) => {
    if (data === '[DONE]') return;
    const event = parseEvent(data);
    const [choice] = (event.choices ?? []) as Record<string, unknown>[];
    const { completion_tokens: sampled } = objectOf(event.usage);
    // A token that no event told of leaves a gap that nobody could see in the ids.
    if (typeof sampled === 'number' && sampled !== told) tell({ ids: null, logProbs: [], policyVersion: version });
    if (choice === undefined) return;
    const piece = pieceOf(choice);
    told += piece?.ids?.length ?? 0;
    if (piece !== null) tell({ ...piece, policyVersion: version });
    if (typeof choice.finish_reason === 'string') finish = choice.finish_reason;
  });
  if (finish === 'stop' || finish === 'length') return finish;
  throw brokenStream(finish === null ? 'it ended before the answer was finished' : `the answer ended by "${finish}"`);
}

export function completionBody(modelId: string, request: TokenRequest): JsonObject {
  const { temperature, topP, topK, stop } = request.sampling;
  return {
    // The folder's generation_config.json would set these otherwise.
    ...{ frequency_penalty: 0, presence_penalty: 0, repetition_penalty: 1, min_p: 0 },
    ...pickFields(request.extra, passed),
    ...{ model: modelId, prompt: Array.from(request.promptIds), max_tokens: request.maxTokens },
    ...{ stream: true, stream_options: { include_usage: true } },
    ...{ temperature, top_p: topP, top_k: topK === 0 ? -1 : topK, seed: request.seed, stop },
    ...{ stop_token_ids: request.stopIds, add_special_tokens: false, skip_special_tokens: false },
    ...{ logprobs: 0, return_token_ids: true, return_tokens_as_token_ids: true },
  };
}

/** Null for an event without tokens. */
export function pieceOf(choice: Record<string, unknown>): Omit<TokenPiece, 'policyVersion'> | null {
  const told = objectOf(choice.logprobs);
  const ids = numbersOf(choice.token_ids) ?? idsOfNames(told.tokens);
  const text = typeof choice.text === 'string' ? choice.text : '';
  if (ids?.length === 0 || (ids === null && text === '')) return null;
  const promptIds = numbersOf(choice.prompt_token_ids);
  return { ids, logProbs: logProbsOf(told.token_logprobs), text, ...(promptIds === null ? {} : { promptIds }) };
}

/** `return_tokens_as_token_ids` names tokens `token_id:123`. */
function idsOfNames(names: unknown): number[] | null {
  if (!Array.isArray(names) || names.length === 0) return null;
  const ids = names.map((name) => /^token_id:(\d+)$/.exec(String(name))?.[1]);
  return ids.every((id) => id !== undefined) ? ids.map(Number) : null;
}
