import { AnswerText } from './answer-text.ts';
import type { Capabilities } from './capabilities.ts';
import { type AnswerFormats, defaultFormats } from './formats.ts';
import { type BuiltPrompt, PromptBuilder, type PromptPlan } from './prompt-builder.ts';
import { assertKnown, promptChanged, rendered, sameIds } from './prompt-faults.ts';
import { allChoices, pushed } from './pushed.ts';
import { mixSeed } from './seeds.ts';
import type { AnswerDecoder, ChatTemplate, Tokenizer } from './text.ts';
import { ThinkingParser } from './thinking.ts';
import { TokenDoubts } from './token-doubts.ts';
import type { TokenServer } from './token-server.ts';
import type { Message, Turn, TurnEvent, Upstream, UpstreamContext } from './upstream.ts';
import { contextLengthExceeded, UpstreamError } from './upstream-error.ts';

export interface TokensWayOptions {
  name: string;
  /** Name of the policy whose weights answer, or null for a frozen model. */
  policy: string | null;
  modelId: string;
  tokenizer: Tokenizer;
  template: ChatTemplate;
  endOfTurnId: number;
  /** Ids that end an answer, `endOfTurnId` among them. */
  stopIds: number[];
  /** A decoder for one answer that leaves special tokens out. */
  createDecoder: () => AnswerDecoder;
  /** Default: Hermes calls, no thinking. */
  formats?: AnswerFormats;
  server: TokenServer;
  /** Tokens of prompt and answer together; null where nobody knows. */
  contextTokens: () => number | null;
  /** The model's ids are 0 … this − 1; null where nobody knows. */
  vocabularySize: () => number | null;
  capabilities?: Capabilities;
  /** Instead of the tokenizer's `encode`, for one that is asked over the network. */
  encode?: (text: string, signal: AbortSignal | undefined) => Promise<ArrayLike<number>>;
  /** Clients read the text as the server decoded it, where nobody here can decode ids. */
  serverText?: boolean;
  /** What the client gets for an error that is not an `UpstreamError`. */
  failure?: (error: unknown) => unknown;
}

type Emit = (event: TurnEvent) => void;

interface Answering {
  turn: Turn;
  context: UpstreamContext;
  prompt: BuiltPrompt;
  maxTokens: number;
  /** Aborts with the client, and when another choice fails. */
  signal: AbortSignal;
  emit: Emit;
}

/** An upstream that renders, decodes and parses itself: text in and out is ours, so no id can get lost. */
export function createTokensUpstream(options: TokensWayOptions): Upstream {
  const prompts = new PromptBuilder(options);

  async function build(attemptId: string, turn: Turn, signal?: AbortSignal): Promise<BuiltPrompt> {
    if (options.encode === undefined) return rendered(() => prompts.build(attemptId, turn));
    const plan: PromptPlan = rendered(() => prompts.plan(attemptId, turn));
    return plan.build(plan.text === '' ? [] : await options.encode(plan.text, signal));
  }

  async function answer(turn: Turn, context: UpstreamContext, abort: AbortController, emit: Emit): Promise<void> {
    const prompt = await build(context.attemptId, turn, abort.signal);
    if (turn.prompt !== undefined) assertKnown(prompt.ids, options.vocabularySize());
    const contextTokens = options.contextTokens();
    const room = contextTokens === null ? turn.sampling.maxTokens : Math.max(contextTokens - prompt.ids.length, 0);
    const maxTokens = Math.min(turn.sampling.maxTokens, room);
    emit({ type: 'prompt', ids: prompt.ids, maxTokens });
    if (contextTokens !== null && room === 0) throw contextLengthExceeded(prompt.ids.length, contextTokens);
    const answering: Answering = { turn, context, prompt, maxTokens, signal: abort.signal, emit };
    const finished = await allChoices(turn.n, abort, (choice) => answerChoice(options, answering, choice));
    for (const { message, ids } of finished) if (ids !== null) prompt.remember(message, ids);
  }

  return {
    name: options.name,
    policy: options.policy,
    modelId: options.modelId,
    ...(options.capabilities === undefined ? {} : { capabilities: options.capabilities }),
    forget: (attemptId) => prompts.forget(attemptId),
    countTokens: async (turn, attemptId) => (await build(attemptId, turn)).ids.length,
    generate: (turn, context) =>
      pushed(
        context.signal,
        (abort, emit) => answer(turn, context, abort, emit),
        (error) => (error instanceof UpstreamError ? error : (options.failure?.(error) ?? error)),
      ),
  };
}

async function answerChoice(
  options: TokensWayOptions,
  { turn, context, prompt, maxTokens, signal, emit }: Answering,
  choice: number,
): Promise<{ message: Message; ids: Int32Array | null }> {
  const { sampling } = turn;
  const { tokenizer, serverText = false } = options;
  const text = createText(options, { turn, context, prompt, emit }, choice);
  const sampled: number[] = [];
  const doubts = new TokenDoubts();
  const { temperature, topP, topK, stop } = sampling;
  const finish = await options.server.sample(
    {
      ...{ promptIds: prompt.ids, maxTokens, sampling: { temperature, topP, topK, stop }, signal },
      affinity: context.attemptId,
      ...{ stopIds: options.stopIds, stream: turn.stream, extra: turn.extra },
      seed: mixSeed(sampling.seed ?? 0, choice),
    },
    ({ ids, logProbs, policyVersion, text: decoded = '', promptIds }) => {
      if (promptIds !== undefined && !sameIds(prompt.ids, promptIds)) throw promptChanged(options.name);
      if (ids === null) {
        doubts.idsMissing();
        text.pushText(decoded);
        return;
      }
      doubts.told(ids.length, logProbs.length);
      for (const id of ids) sampled.push(id);
      const texts = turn.wantLogProbs && !serverText ? { texts: ids.map((id) => tokenizer.decode([id])) } : {};
      emit({ type: 'tokens', choice, ids, logProbs, policyVersion, ...texts });
      if (serverText) {
        text.pushText(decoded);
        return;
      }
      // The token that ended the answer is none of its text, special or not.
      text.push(options.stopIds.includes(ids.at(-1) ?? -1) ? ids.slice(0, -1) : ids);
    },
  );
  text.end();
  const { reason } = doubts;
  if (reason !== null) emit({ type: 'untrainable', choice, reason });
  const called = text.toolCalls.length > 0 && finish === 'stop';
  emit({ type: 'finish', choice, reason: called ? 'tool_calls' : finish, rawText: text.raw });
  const message: Message = { role: 'assistant', content: text.content };
  if (text.toolCalls.length > 0) message.toolCalls = text.toolCalls;
  return { message, ids: reason === 'missing_token_ids' ? null : Int32Array.from(sampled) };
}

function createText(
  { createDecoder, formats = defaultFormats }: TokensWayOptions,
  { turn, context, prompt, emit }: Pick<Answering, 'turn' | 'context' | 'prompt' | 'emit'>,
  choice: number,
): AnswerText {
  const callable = turn.tools.length > 0 && turn.toolChoice !== 'none';
  return new AnswerText({
    ...{ choice, decoder: createDecoder(), stop: turn.sampling.stop, emit },
    toolCalls: callable ? formats.toolCalls.createParser({ incremental: turn.stream, tools: turn.tools }) : null,
    thinking: formats.thinking && turn.prompt === undefined ? new ThinkingParser(prompt.opensThinking) : null,
    toolCallId: (index) => context.toolCallId(choice, index),
  });
}
