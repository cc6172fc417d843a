import type { JsonObject, Span } from '../../store/types.ts';
import type { ChatMessage, ToolDefinition } from '../chat.ts';

export interface Answer {
  message: ChatMessage;
  /** In OpenAI's words: `stop`, `length`, `tool_calls`, `content_filter`. */
  finishReason: string | null;
}

/** One run of a tool, as far as its span tells. */
export interface ToolReading {
  name: string | null;
  callId: string | null;
  /** As a text: JSON, unless the instrumentation wrote something else. */
  arguments: string | null;
  result: string | null;
}

/** Token ids that the instrumentation wrote down, as the Python project's 0.x did. Never trained on: those come from recorded calls. */
export interface TokenReading {
  promptIds: number[];
  answerIds: number[];
  logProbs: number[] | null;
}

/** What a span says, whatever its instrumentation calls it. Null is "does not say". */
export interface Reading {
  /** A request to a model, a run of a tool, a run of an agent; null is anything else. */
  kind: 'model' | 'tool' | 'agent' | null;
  /** Of the agent that the span is, or that the span belongs to. */
  agentName: string | null;
  provider: string | null;
  model: string | null;
  /** The `id` of the model's answer. */
  responseId: string | null;
  prompt: ChatMessage[] | null;
  tools: ToolDefinition[] | null;
  /** One for each choice. */
  answers: Answer[] | null;
  inputTokens: number | null;
  outputTokens: number | null;
  tool: ToolReading | null;
  tokens: TokenReading | null;
}

/** An event of a span, or a log record that was written within it. */
export interface ViewEvent {
  name: string;
  attributes: JsonObject;
  /** Of a log record. */
  body: JsonObject | null;
}

/** A span with what was logged within it. */
export interface SpanView {
  span: Span;
  attributes: JsonObject;
  events: readonly ViewEvent[];
}

/** How one kind of instrumentation writes. It gives what it finds, and nothing for spans that are not its own. */
export interface Family {
  name: string;
  read(view: SpanView): Partial<Reading>;
}

const finishReasons = new Map<string, string>([
  ['tool_call', 'tool_calls'],
  ['tool-calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['function_calls', 'tool_calls'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['completed', 'stop'],
  ['max_tokens', 'length'],
  ['incomplete', 'length'],
  ['content-filter', 'content_filter'],
]);

/** A provider's word in OpenAI's. */
export function finishReason(given: unknown): string | null {
  if (typeof given !== 'string' || given === '') return null;
  const word = given.toLowerCase();
  return finishReasons.get(word) ?? word;
}
