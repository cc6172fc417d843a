import type { JsonObject } from '../store/types.ts';
import { type ModelServer, parseEvent } from './http.ts';
import { brokenStream } from './http-errors.ts';
import { pickFields } from './sampling-extras.ts';
import type { TokenPiece, TokenRequest } from './token-server.ts';
import { logProbOf, numbersOf, objectOf } from './tokens-from-json.ts';

const passed = [
  ...['frequency_penalty', 'presence_penalty', 'repeat_penalty', 'min_p', 'logit_bias', 'ignore_eos'],
  ...['grammar', 'json_schema'],
];

/**
 * Samples through llama.cpp's `/completion`. Its log probs are of the model's own distribution, before all samplers. In a
 * stream it leaves out tokens that end within a character, ids and log probs; whole answers lack their log probs alone. So
 * an answer with such a token is found out by the count, and not trained on.
 */
export async function sampleFromLlamacpp(
  server: ModelServer,
  version: number | null,
  request: TokenRequest,
  tell: (piece: TokenPiece) => void,
): Promise<'stop' | 'length'> {
  const answer = new LlamacppAnswer((piece) => tell({ ...piece, policyVersion: version }));
  const body = completionBody(request);
  if (request.stream) {
    await server.events('/completion', body, request, (data) => {
      if (data !== '[DONE]') answer.read(parseEvent(data));
    });
  } else {
    answer.read(objectOf(await server.post('/completion', body, request.signal)));
  }
  return answer.end();
}

export function completionBody({ promptIds, maxTokens, sampling, seed, stream, extra }: TokenRequest): JsonObject {
  const { temperature, topP, topK, stop } = sampling;
  return {
    // The server's defaults bend the distribution: temperature 0.8, top-k 40, top-p 0.95, min-p 0.05.
    ...{ min_p: 0, typical_p: 1, repeat_penalty: 1, presence_penalty: 0, frequency_penalty: 0, dry_multiplier: 0 },
    ...{ xtc_probability: 0, mirostat: 0, top_n_sigma: -1 },
    ...pickFields(extra, passed),
    ...{ prompt: Array.from(promptIds), temperature, top_k: topK, top_p: topP, seed, stop, stream },
    n_predict: maxTokens === Number.MAX_SAFE_INTEGER ? -1 : maxTokens,
    ...{ n_probs: 1, return_tokens: true, cache_prompt: true },
  };
}

/** Reads the events of a streamed answer, or the one body of a whole one. */
class LlamacppAnswer {
  readonly #tell: (piece: Omit<TokenPiece, 'policyVersion'>) => void;
  #told = 0;
  #stopType: string | null = null;

  constructor(tell: (piece: Omit<TokenPiece, 'policyVersion'>) => void) {
    this.#tell = tell;
  }

  read(event: Record<string, unknown>): void {
    const ids = numbersOf(event.tokens) ?? [];
    const text = typeof event.content === 'string' ? event.content : '';
    const rows = (Array.isArray(event.completion_probabilities) ? event.completion_probabilities : []) as unknown[];
    const logProbs = rows.map((row) => logProbOf(objectOf(row).logprob));
    const predicted = typeof event.tokens_predicted === 'number' ? event.tokens_predicted : this.#told + ids.length;
    const complete = this.#told + ids.length >= predicted;
    if (!complete) this.#tell({ ids: null, logProbs: [], text });
    else if (ids.length > 0) this.#tell({ ids, logProbs, text });
    this.#told = Math.max(predicted, this.#told + ids.length);
    if (event.stop === true) this.#stopType = String(event.stop_type);
  }

  end(): 'stop' | 'length' {
    if (this.#stopType === null) throw brokenStream('it ended before the answer was finished');
    return this.#stopType === 'limit' ? 'length' : 'stop';
  }
}
