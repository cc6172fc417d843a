import type { JsonObject } from '../store/types.ts';
import { type ModelServer, parseEvent } from './http.ts';
import { brokenStream } from './http-errors.ts';
import { pickFields } from './sampling-extras.ts';
import type { ServedModel } from './served-versions.ts';
import type { TokenPiece, TokenRequest } from './token-server.ts';
import { logProbOf, numbersOf, objectOf } from './tokens-from-json.ts';

const passed = ['frequency_penalty', 'presence_penalty', 'repetition_penalty', 'min_p', 'min_new_tokens', 'ignore_eos'];

/** Samples through SGLang's `/generate`. */
export async function sampleFromSglang(
  server: ModelServer,
  { modelId, version }: ServedModel,
  request: TokenRequest,
  tell: (piece: TokenPiece) => void,
): Promise<'stop' | 'length'> {
  const answer = new SglangAnswer();
  await server.events('/generate', generateBody(request, version === null ? null : modelId), request, (data) => {
    if (data === '[DONE]') return;
    const piece = answer.read(parseEvent(data));
    if (piece !== null) tell({ ...piece, policyVersion: version });
  });
  if (answer.finish === 'stop' || answer.finish === 'length') return answer.finish;
  throw brokenStream(
    answer.finish === null ? 'it ended before the answer was finished' : `the answer ended by "${answer.finish}"`,
  );
}

export function generateBody(request: TokenRequest, adapter: string | null): JsonObject {
  const { temperature, topP, topK, stop } = request.sampling;
  return {
    input_ids: Array.from(request.promptIds),
    sampling_params: {
      ...{ frequency_penalty: 0, presence_penalty: 0, repetition_penalty: 1, min_p: 0 },
      ...pickFields(request.extra, passed),
      ...{ max_new_tokens: request.maxTokens, temperature, top_p: topP, top_k: topK === 0 ? -1 : topK, stop },
      ...{ stop_token_ids: request.stopIds, sampling_seed: request.seed, skip_special_tokens: false },
    },
    return_logprob: true,
    stream: true,
    ...(adapter === null ? {} : { lora_path: adapter }),
  };
}

/**
 * Reads a streamed answer. By default each event tells the whole answer so far; with `--incremental-streaming-output` only
 * what is new. The count of tokens says which.
 */
export class SglangAnswer {
  finish: string | null = null;
  #ids = 0;
  #logProbs = 0;
  #text = 0;

  read(event: Record<string, unknown>): Omit<TokenPiece, 'policyVersion'> | null {
    const meta = objectOf(event.meta_info);
    const { type } = objectOf(meta.finish_reason);
    if (typeof type === 'string') this.finish = type;
    const count = typeof meta.completion_tokens === 'number' ? meta.completion_tokens : 0;
    const rows = (Array.isArray(meta.output_token_logprobs) ? meta.output_token_logprobs : []) as unknown[][];
    const ids = numbersOf(event.output_ids) ?? (rows.length > 0 ? numbersOf(rows.map((row) => row[1])) : null);
    const text = typeof event.text === 'string' ? event.text : '';
    const whole = ids === null || ids.length >= count;
    const newIds = whole && ids !== null ? ids.slice(this.#ids) : ids;
    const newRows = whole ? rows.slice(this.#logProbs) : rows;
    const newText = whole ? text.slice(this.#text) : text;
    this.#ids += newIds?.length ?? 0;
    this.#logProbs += newRows.length;
    this.#text += newText.length;
    if (newIds === null ? newText === '' : newIds.length === 0) return null;
    return { ids: newIds, logProbs: newRows.map((row) => logProbOf(row[0])), text: newText };
  }
}
