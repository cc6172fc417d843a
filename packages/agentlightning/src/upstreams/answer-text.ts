import { StopFilter } from './stop-filter.ts';
import type { AnswerDecoder } from './text.ts';
import type { ThinkingParser } from './thinking.ts';
import type { ToolCallParser, ToolCallSink } from './tool-calls/parser.ts';
import type { ToolCall, TurnEvent } from './upstream.ts';

export interface AnswerTextOptions {
  choice: number;
  decoder: AnswerDecoder;
  stop: string[];
  /** Null when the turn offers no tools: then a call is text like any other. */
  toolCalls: ToolCallParser | null;
  /** Null for a model that does not think aloud. */
  thinking: ThinkingParser | null;
  toolCallId(index: number): string;
  emit(event: TurnEvent): void;
}

/** JavaScript engines bound the number of arguments of a call. */
const maxArguments = 4096;

/** From the sampled ids of one choice to what a client reads: characters made whole, stop texts cut, thinking and calls cut out. */
export class AnswerText implements ToolCallSink {
  /** Everything the client may read, thinking and tool calls still in it. */
  raw = '';
  content = '';
  reasoning = '';
  readonly toolCalls: ToolCall[] = [];
  readonly #options: AnswerTextOptions;
  readonly #stop: StopFilter;
  #open: ToolCall | null = null;

  constructor(options: AnswerTextOptions) {
    this.#options = options;
    this.#stop = new StopFilter(options.stop);
  }

  push(ids: number[]): void {
    for (let start = 0; start < ids.length; start += maxArguments) {
      const part = ids.length > maxArguments ? ids.slice(start, start + maxArguments) : ids;
      this.#read(this.#stop.push(this.#options.decoder.push(...part)));
    }
  }

  /** Text that a server decoded itself. */
  pushText(text: string): void {
    this.#read(this.#stop.push(text));
  }

  end(): void {
    this.#read(this.#stop.push(this.#options.decoder.finish()));
    this.#read(this.#stop.end());
    const { thinking, toolCalls } = this.#options;
    if (thinking !== null) this.#route(thinking.end());
    toolCalls?.end(this);
  }

  text(text: string): void {
    this.content += text;
    this.#options.emit({ type: 'text', choice: this.#options.choice, text });
  }

  call(name: string, argumentsText: string): void {
    const call: ToolCall = { id: this.#options.toolCallId(this.toolCalls.length), name, arguments: argumentsText };
    this.toolCalls.push(call);
    this.#options.emit({ type: 'tool-call', choice: this.#options.choice, call });
  }

  beginCall(name: string): void {
    this.#open = { id: this.#options.toolCallId(this.toolCalls.length), name, arguments: '' };
    this.#options.emit({ type: 'tool-call-start', choice: this.#options.choice, id: this.#open.id, name });
  }

  callArguments(text: string): void {
    if (this.#open === null || text === '') return;
    this.#open.arguments += text;
    this.#options.emit({ type: 'tool-call-arguments', choice: this.#options.choice, text });
  }

  endCall(): void {
    if (this.#open === null) return;
    const call = this.#open;
    this.#open = null;
    this.toolCalls.push(call);
    this.#options.emit({ type: 'tool-call', choice: this.#options.choice, call });
  }

  #read(text: string): void {
    if (text === '') return;
    this.raw += text;
    const { thinking } = this.#options;
    if (thinking === null) this.#answer(text);
    else this.#route(thinking.push(text));
  }

  #route({ reasoning, answer }: { reasoning: string; answer: string }): void {
    if (reasoning !== '') {
      this.reasoning += reasoning;
      this.#options.emit({ type: 'reasoning', choice: this.#options.choice, text: reasoning });
    }
    if (answer !== '') this.#answer(answer);
  }

  #answer(text: string): void {
    const { toolCalls } = this.#options;
    if (toolCalls !== null) toolCalls.push(text, this);
    else this.text(text);
  }
}
