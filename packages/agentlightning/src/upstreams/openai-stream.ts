import { parseEvent } from './http.ts';
import { brokenStream } from './http-errors.ts';
import { TokenDoubts } from './token-doubts.ts';
import { logProbOf, numbersOf } from './tokens-from-json.ts';
import type { ToolCall, TurnEvent } from './upstream.ts';

interface ChoiceState {
  text: string;
  /** The call whose arguments are coming, by its index in the protocol. */
  open: { index: number; call: ToolCall } | null;
  calls: number;
  doubts: TokenDoubts;
  finished: boolean;
}

/** The part of a chunk that is read; a service may send anything, so every member is checked. */
interface Chunk {
  choices?: ChunkChoice[];
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
  prompt_token_ids?: unknown;
}

interface ChunkChoice {
  index?: number;
  delta?: Delta;
  finish_reason?: string | null;
  token_ids?: unknown;
  logprobs?: { content?: { token?: unknown; logprob?: unknown }[] | null } | null;
}

interface Delta {
  content?: string | null;
  /** vLLM's newer and older name. */
  reasoning?: unknown;
  reasoning_content?: unknown;
  tool_calls?: CallPiece[] | null;
}

interface CallPiece {
  index?: number;
  id?: string;
  function?: { name?: string; arguments?: string };
}

export interface ReadTokens {
  policyVersion: number | null;
  /** The text of each token is wanted. */
  texts: boolean;
}

/** Reads `chat.completion.chunk` events; with `tokens`, also what vLLM tells of ids and log probs. */
export class OpenAiStream {
  readonly #choices = new Map<number, ChoiceState>();
  readonly #toolCallId: (choice: number, index: number) => string;
  readonly #tokens: ReadTokens | null;
  #begun = false;
  /** Ids told, of all choices. */
  #told = 0;

  constructor(toolCallId: (choice: number, index: number) => string, tokens: ReadTokens | null = null) {
    this.#toolCallId = toolCallId;
    this.#tokens = tokens;
  }

  *read(data: string): Generator<TurnEvent> {
    if (data === '[DONE]') {
      for (const [choice, state] of this.#choices) yield* this.#finish(choice, state, 'stop');
      return;
    }
    const chunk = parseEvent(data) as Chunk;
    if (this.#tokens !== null && !this.#begun) {
      this.#begun = true;
      const ids = numbersOf(chunk.prompt_token_ids);
      yield { type: 'prompt', ids: ids === null ? null : Int32Array.from(ids) };
    }
    for (const part of chunk.choices ?? []) yield* this.#readChoice(part);
    if (chunk.usage) {
      const { prompt_tokens: promptTokens = 0, completion_tokens: completionTokens = 0 } = chunk.usage;
      yield { type: 'usage', promptTokens, completionTokens };
      // A token that no event told of leaves a gap that nobody could see in the ids.
      const gap = this.#tokens !== null && this.#told !== completionTokens;
      if (gap)
        for (const choice of this.#choices.keys()) yield { type: 'untrainable', choice, reason: 'missing_token_ids' };
    }
  }

  /** @throws {UpstreamError} when the stream ended before its answer did */
  assertComplete(): void {
    const choices = [...this.#choices.values()];
    if (choices.length > 0 && choices.every((choice) => choice.finished)) return;
    throw brokenStream('it ended before the answer was finished');
  }

  *#readChoice(part: ChunkChoice): Generator<TurnEvent> {
    const choice = part.index ?? 0;
    const state = this.#state(choice);
    if (this.#tokens !== null) yield* this.#readTokens(choice, state, part, this.#tokens);
    const { content, tool_calls: pieces, ...delta } = part.delta ?? {};
    const reasoning = delta.reasoning ?? delta.reasoning_content;
    if (typeof reasoning === 'string' && reasoning !== '') {
      state.text += reasoning;
      yield { type: 'reasoning', choice, text: reasoning };
    }
    if (typeof content === 'string' && content !== '') {
      state.text += content;
      yield { type: 'text', choice, text: content };
    }
    for (const piece of pieces ?? []) yield* this.#readCall(choice, state, piece);
    if (typeof part.finish_reason === 'string') yield* this.#finish(choice, state, part.finish_reason);
  }

  *#readTokens(
    choice: number,
    state: ChoiceState,
    part: ChunkChoice,
    { policyVersion, texts }: ReadTokens,
  ): Generator<TurnEvent> {
    const ids = numbersOf(part.token_ids) ?? [];
    const told = part.logprobs?.content ?? [];
    if (ids.length === 0 && told.length === 0) return;
    const logProbs = told.map(({ logprob }) => logProbOf(logprob));
    const named = texts ? { texts: told.map(({ token }) => String(token)) } : {};
    this.#told += ids.length;
    yield { type: 'tokens', choice, ids, logProbs, policyVersion, ...named };
    if (ids.length === 0) state.doubts.idsMissing();
    state.doubts.told(ids.length, logProbs.length);
  }

  *#readCall(choice: number, state: ChoiceState, piece: CallPiece): Generator<TurnEvent> {
    const index = piece.index ?? state.open?.index ?? 0;
    if (state.open !== null && index < state.open.index) throw brokenStream('it goes back to a call that it had ended');
    if (state.open?.index !== index) {
      yield* closeCall(choice, state);
      const name = piece.function?.name ?? '';
      const id = piece.id ?? this.#toolCallId(choice, state.calls);
      state.open = { index, call: { id, name, arguments: '' } };
      state.calls += 1;
      yield { type: 'tool-call-start', choice, id, name };
    }
    const text = piece.function?.arguments ?? '';
    if (text === '') return;
    state.open.call.arguments += text;
    yield { type: 'tool-call-arguments', choice, text };
  }

  *#finish(choice: number, state: ChoiceState, reason: string): Generator<TurnEvent> {
    if (state.finished) return;
    state.finished = true;
    yield* closeCall(choice, state);
    const { reason: doubt } = state.doubts;
    if (doubt !== null) yield { type: 'untrainable', choice, reason: doubt };
    const known = reason === 'length' || reason === 'tool_calls' ? reason : 'stop';
    yield { type: 'finish', choice, reason: known, rawText: state.text };
  }

  #state(index: number): ChoiceState {
    let state = this.#choices.get(index);
    if (state === undefined) {
      state = { text: '', open: null, calls: 0, doubts: new TokenDoubts(), finished: false };
      this.#choices.set(index, state);
    }
    return state;
  }
}

function* closeCall(choice: number, state: ChoiceState): Generator<TurnEvent> {
  if (state.open === null) return;
  const { call } = state.open;
  state.open = null;
  yield { type: 'tool-call', choice, call };
}
