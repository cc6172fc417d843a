import type { Engine, SampleResult } from '../engines/engine.ts';
import { AnswerText } from './answer-text.ts';
import { EventQueue } from './event-queue.ts';
import { type BuiltPrompt, PromptBuilder, type PromptBuilderOptions } from './prompt-builder.ts';
import { mixSeed } from './seeds.ts';
import type { AnswerDecoder } from './text.ts';
import type { Message, Turn, TurnEvent, Upstream, UpstreamContext } from './upstream.ts';
import { contextLengthExceeded, UpstreamError } from './upstream-error.ts';

export interface EmbeddedUpstreamOptions extends PromptBuilderOptions {
  name: string;
  /** Name of the policy whose weights the engine holds, or null for a frozen model. */
  policy: string | null;
  modelId: string;
  engine: Pick<Engine, 'info' | 'sample'>;
  /** Ids that end an answer, `endOfTurnId` among them. */
  stopIds: number[];
  /** A decoder for one answer that leaves special tokens out. */
  createDecoder: () => AnswerDecoder;
}

type Emit = (event: TurnEvent) => void;

interface Answering {
  turn: Turn;
  context: UpstreamContext;
  promptIds: Int32Array;
  maxTokens: number;
  /** Aborts with the client, and when another choice fails. */
  signal: AbortSignal;
  emit: Emit;
}

interface FinishedChoice {
  message: Message;
  ids: Int32Array;
}

/** Answers from an engine in this process, the tokens way: text in and out is ours, so no id can get lost. */
export function createEmbeddedUpstream(options: EmbeddedUpstreamOptions): Upstream {
  const prompts = new PromptBuilder(options);

  async function answer(turn: Turn, context: UpstreamContext, abort: AbortController, emit: Emit): Promise<void> {
    const prompt = buildPrompt(prompts, context.attemptId, turn);
    if (turn.prompt !== undefined) assertKnown(prompt.ids, options.engine.info().vocabularySize);
    const contextTokens = options.engine.info().maxTokens;
    const room = Math.max(contextTokens - prompt.ids.length, 0);
    const maxTokens = Math.min(turn.sampling.maxTokens, room);
    emit({ type: 'prompt', ids: prompt.ids, maxTokens });
    if (room === 0) throw contextLengthExceeded(prompt.ids.length, contextTokens);
    const answering: Answering = { turn, context, promptIds: prompt.ids, maxTokens, signal: abort.signal, emit };
    const choices = await Promise.allSettled(
      Array.from({ length: turn.n }, async (_, choice) => {
        try {
          return await answerChoice(options, answering, choice);
        } catch (error) {
          abort.abort(error);
          throw error;
        }
      }),
    );
    for (const choice of choices) {
      if (choice.status === 'rejected') throw choice.reason;
      prompt.remember(choice.value.message, choice.value.ids);
    }
  }

  return {
    name: options.name,
    policy: options.policy,
    modelId: options.modelId,
    forget: (attemptId) => prompts.forget(attemptId),
    countTokens: (turn, attemptId) => buildPrompt(prompts, attemptId, turn).ids.length,
    generate(turn, context) {
      const abort = new AbortController();
      const follow = () => abort.abort(context.signal.reason);
      if (context.signal.aborted) follow();
      else context.signal.addEventListener('abort', follow, { once: true });
      const queue = new EventQueue<TurnEvent>((early) => {
        context.signal.removeEventListener('abort', follow);
        if (early) abort.abort();
      });
      answer(turn, context, abort, (event) => queue.push(event)).then(
        () => queue.end(),
        (error: unknown) => queue.fail(context.signal.aborted ? context.signal.reason : engineFailure(error)),
      );
      return queue;
    },
  };
}

async function answerChoice(
  { engine, tokenizer, createDecoder, stopIds }: EmbeddedUpstreamOptions,
  { turn, context, promptIds, maxTokens, signal, emit }: Answering,
  choice: number,
): Promise<FinishedChoice> {
  const { sampling } = turn;
  const text = new AnswerText({
    choice,
    decoder: createDecoder(),
    stop: sampling.stop,
    parseToolCalls: turn.tools.length > 0 && turn.toolChoice !== 'none',
    toolCallId: (index) => context.toolCallId(choice, index),
    emit,
  });
  let told = 0;
  const tell = (ids: number[], logProbs: number[], policyVersion: number | null) => {
    told += ids.length;
    const texts = turn.wantLogProbs ? { texts: ids.map((id) => tokenizer.decode([id])) } : {};
    emit({ type: 'tokens', choice, ids, logProbs, policyVersion, ...texts });
    // The token that ended the answer is none of its text, special or not.
    text.push(stopIds.includes(ids.at(-1) ?? -1) ? ids.slice(0, -1) : ids);
  };
  const result = await engine.sample(
    {
      promptIds,
      maxTokens,
      temperature: sampling.temperature,
      topP: sampling.topP,
      topK: sampling.topK,
      stopIds,
      stop: sampling.stop,
      seed: mixSeed(sampling.seed ?? 0, choice),
    },
    {
      signal,
      // Nobody waits for single tokens of an answer that is sent whole.
      ...(turn.stream ? { onTokens: (tokens) => tell(tokens.ids, tokens.logProbs, tokens.policyVersion) } : {}),
    },
  );
  for (const part of untold(result, told)) tell(part.ids, part.logProbs, part.policyVersion);
  text.end();
  if (result.finishReason === 'cancelled') throw signal.reason;
  const called = text.toolCalls.length > 0 && result.finishReason === 'stop';
  emit({ type: 'finish', choice, reason: called ? 'tool_calls' : result.finishReason, rawText: text.raw });
  const message: Message = { role: 'assistant', content: text.content };
  if (text.toolCalls.length > 0) message.toolCalls = text.toolCalls;
  return { message, ids: result.tokenIds };
}

/** The tokens of a result after the first `told`, cut where the policy version changes. */
function untold(
  result: SampleResult,
  told: number,
): { ids: number[]; logProbs: number[]; policyVersion: number | null }[] {
  const { tokenIds, logProbs, policyVersions } = result;
  if (told >= tokenIds.length) return [];
  const cuts = policyVersions.map(({ from }) => from).filter((from) => from > told);
  return [told, ...cuts].map((start, index) => {
    const end = cuts[index];
    return {
      ids: Array.from(tokenIds.subarray(start, end)),
      logProbs: Array.from(logProbs.subarray(start, end)),
      policyVersion: policyVersions.findLast(({ from }) => from <= start)?.version ?? null,
    };
  });
}

/** A template may refuse messages, for instance roles in an order that the model has never seen. */
function buildPrompt(prompts: PromptBuilder, attemptId: string, turn: Turn): BuiltPrompt {
  try {
    return prompts.build(attemptId, turn);
  } catch (cause) {
    const { code, category, message } = cause as Partial<Record<'code' | 'category' | 'message', unknown>>;
    if (category !== 'user' || typeof code !== 'string') throw cause;
    throw new UpstreamError({ code, category: 'agent', status: 400, message: String(message), cause });
  }
}

/** A client may send any ids; one that the model does not have would read beyond its embedding. */
function assertKnown(ids: Int32Array, vocabularySize: number): void {
  const index = ids.findIndex((id) => id < 0 || id >= vocabularySize);
  if (index < 0) return;
  throw new UpstreamError({
    code: 'unknown_token_id',
    category: 'agent',
    status: 400,
    message: `"prompt[${index}]" is ${ids[index]}, and this model's token ids end at ${vocabularySize - 1}.`,
  });
}

function engineFailure(error: unknown): unknown {
  if (error instanceof UpstreamError) return error;
  return new UpstreamError({
    code: 'engine_failed',
    category: 'system',
    status: 500,
    message: `The engine failed while answering: ${error instanceof Error ? error.message : String(error)}`,
    cause: error,
  });
}
