import type { TurnEvent } from './upstream.ts';
import { UpstreamError } from './upstream-error.ts';

interface CallPieces {
  id: string | null;
  name: string;
  arguments: string;
}

interface ChoiceState {
  text: string;
  calls: CallPieces[];
  finished: boolean;
}

/** The part of a chunk that is read; a service may send anything, so every member is checked. */
interface Chunk {
  error?: { message?: unknown };
  choices?: { index?: number; delta?: Delta; finish_reason?: string | null }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
}

interface Delta {
  content?: string | null;
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

/** Reads `chat.completion.chunk` events. A tool call is told when its choice has finished, because only then it is whole. */
export class OpenAiStream {
  readonly #choices = new Map<number, ChoiceState>();
  readonly #toolCallId: (choice: number, index: number) => string;

  constructor(toolCallId: (choice: number, index: number) => string) {
    this.#toolCallId = toolCallId;
  }

  *read(data: string): Generator<TurnEvent> {
    if (data === '[DONE]') {
      for (const [choice, state] of this.#choices) yield* this.#finish(choice, state, 'stop');
      return;
    }
    const chunk = parseChunk(data);
    for (const part of chunk.choices ?? []) {
      const index = part.index ?? 0;
      const state = this.#state(index);
      const content = part.delta?.content;
      if (typeof content === 'string' && content !== '') {
        state.text += content;
        yield { type: 'text', choice: index, text: content };
      }
      for (const piece of part.delta?.tool_calls ?? []) addPiece(state.calls, piece);
      if (typeof part.finish_reason === 'string') yield* this.#finish(index, state, part.finish_reason);
    }
    if (chunk.usage) {
      const { prompt_tokens: promptTokens = 0, completion_tokens: completionTokens = 0 } = chunk.usage;
      yield { type: 'usage', promptTokens, completionTokens };
    }
  }

  /** @throws {UpstreamError} when the stream ended before its answer did */
  assertComplete(): void {
    const choices = [...this.#choices.values()];
    if (choices.length > 0 && choices.every((choice) => choice.finished)) return;
    throw brokenStream('it ended before the answer was finished');
  }

  *#finish(choice: number, state: ChoiceState, reason: string): Generator<TurnEvent> {
    if (state.finished) return;
    state.finished = true;
    for (const [index, call] of state.calls.filter(Boolean).entries()) {
      const id = call.id ?? this.#toolCallId(choice, index);
      yield { type: 'tool-call', choice, call: { id, name: call.name, arguments: call.arguments } };
    }
    const known = reason === 'length' || reason === 'tool_calls' ? reason : 'stop';
    yield { type: 'finish', choice, reason: known, rawText: state.text };
  }

  #state(index: number): ChoiceState {
    let state = this.#choices.get(index);
    if (state === undefined) {
      state = { text: '', calls: [], finished: false };
      this.#choices.set(index, state);
    }
    return state;
  }
}

function addPiece(calls: CallPieces[], piece: NonNullable<Delta['tool_calls']>[number]): void {
  const index = piece.index ?? Math.max(calls.length - 1, 0);
  const call = calls[index] ?? { id: null, name: '', arguments: '' };
  calls[index] = call;
  call.id ??= piece.id ?? null;
  call.name += piece.function?.name ?? '';
  call.arguments += piece.function?.arguments ?? '';
}

function parseChunk(data: string): Chunk {
  let chunk: Chunk | null;
  try {
    chunk = JSON.parse(data) as Chunk | null;
  } catch (cause) {
    throw brokenStream('it holds an event that is not JSON', cause);
  }
  if (typeof chunk !== 'object' || chunk === null) throw brokenStream('it holds an event that is no object');
  if (chunk.error) throw brokenStream(`the service reported: ${String(chunk.error.message ?? 'an error')}`);
  return chunk;
}

function brokenStream(why: string, cause?: unknown): UpstreamError {
  return new UpstreamError({
    code: 'broken_stream',
    status: 502,
    retryable: true,
    message: `The model service's stream broke: ${why}.`,
    cause,
  });
}
