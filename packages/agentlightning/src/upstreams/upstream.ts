import type { Json, JsonObject, SamplingParameters, UntrainableReason } from '../store/types.ts';
import type { Capabilities } from './capabilities.ts';

export interface ToolDefinition {
  name: string;
  description?: string;
  /** JSON schema. */
  parameters?: JsonObject;
}

export interface ToolCall {
  id: string;
  name: string;
  /** JSON text, exactly as the model wrote it. */
  arguments: string;
}

export interface Message {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content: string;
  /** Of role `assistant`: what it thought, as far as the client has kept it. */
  reasoning?: string;
  toolCalls?: ToolCall[];
  /** For role `tool`: the call it answers. */
  toolCallId?: string;
  name?: string;
}

/** `sampling.maxTokens` of a client that set no bound: the context alone bounds the answer. */
export const noTokenLimit = Number.MAX_SAFE_INTEGER;

/** A prompt that is taken as it is: no template, no tools. Text is encoded once, ids are not touched. */
export type RawPrompt = { text: string } | { ids: number[] };

/** The one internal form of a request; every dialect translates to it and every upstream takes it. */
export interface Turn {
  model: string;
  /** Empty when there is a `prompt`. */
  messages: Message[];
  /** Instead of messages. */
  prompt?: RawPrompt;
  tools: ToolDefinition[];
  toolChoice: 'auto' | 'none' | 'required' | { name: string };
  sampling: SamplingParameters;
  /** The part of `sampling` that the client itself asked for; the rest is the protocol's defaults. */
  sent: Partial<SamplingParameters>;
  /** Number of choices. */
  n: number;
  stream: boolean;
  includeUsage: boolean;
  wantLogProbs: boolean;
  /** Fields the dialect does not know; they survive to upstreams that may. */
  extra: { [key: string]: Json };
}

/**
 * What an upstream tells while it answers. Order per choice: prompt, then tokens / reasoning / text / tool calls, then finish.
 * A tool call is told whole; before that, where it comes piece by piece, its start and its arguments. One is open at a time.
 */
export type TurnEvent =
  /** `maxTokens` is the bound in force, once the context's room is known. */
  | { type: 'prompt'; ids: Int32Array | null; maxTokens?: number }
  /** `texts` is the text of each token, given when `turn.wantLogProbs`. */
  | {
      type: 'tokens';
      choice: number;
      ids: number[];
      logProbs: number[];
      policyVersion: number | null;
      texts?: string[];
    }
  | { type: 'text'; choice: number; text: string }
  | { type: 'reasoning'; choice: number; text: string }
  | { type: 'tool-call-start'; choice: number; id: string; name: string }
  /** The next piece of the open call's arguments. */
  | { type: 'tool-call-arguments'; choice: number; text: string }
  | { type: 'tool-call'; choice: number; call: ToolCall }
  /** What was told of the choice's tokens cannot be relied on. */
  | { type: 'untrainable'; choice: number; reason: UntrainableReason }
  | { type: 'finish'; choice: number; reason: 'stop' | 'length' | 'tool_calls'; rawText: string }
  /** Token counts of a service that gives no ids. */
  | { type: 'usage'; promptTokens: number; completionTokens: number };

export interface UpstreamContext {
  /** Calls of one attempt share exact prefixes: the upstream keeps what it needs under this key. */
  attemptId: string;
  agentName: string | null;
  signal: AbortSignal;
  /** Id of the `index`-th tool call of a choice: the same for the same seed, because templates may render it into later prompts. */
  toolCallId(choice: number, index: number): string;
}

export interface Upstream {
  readonly name: string;
  /** Trained policy's name, or null for a frozen model. */
  readonly policy: string | null;
  readonly modelId: string;
  /** What the server behind it can do; absent where nothing needed to be asked. */
  readonly capabilities?: Capabilities;
  generate(turn: Turn, context: UpstreamContext): AsyncIterable<TurnEvent>;
  /** The number of tokens of the turn's prompt; absent where nobody can tell. */
  countTokens?(turn: Turn, attemptId: string): number | Promise<number>;
  /** Passes a request for embeddings on, with the server's own name of the model; absent where there are none. */
  embed?(body: JsonObject, signal: AbortSignal): Promise<Json>;
  /** Why it cannot answer now, or null; absent where only a call can tell. */
  obstacle?(): Promise<string | null>;
  /** The attempt has ended; nothing of it needs to be kept. */
  forget(attemptId: string): void;
}
