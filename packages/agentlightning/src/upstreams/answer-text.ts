import { StopFilter } from './stop-filter.ts';
import type { AnswerDecoder } from './text.ts';
import { HermesParser } from './tool-calls/hermes.ts';
import type { ToolCallParser, ToolCallSink } from './tool-calls/parser.ts';
import type { ToolCall, TurnEvent } from './upstream.ts';

export interface AnswerTextOptions {
  choice: number;
  decoder: AnswerDecoder;
  stop: string[];
  /** False when the turn offers no tools: then a call is text like any other. */
  parseToolCalls: boolean;
  toolCallId(index: number): string;
  emit(event: TurnEvent): void;
}

/** JavaScript engines bound the number of arguments of a call. */
const maxArguments = 4096;

/** From the sampled ids of one choice to what a client reads: characters made whole, stop texts cut, tool calls cut out. */
export class AnswerText implements ToolCallSink {
  /** Everything the client may read, tool calls still in it. */
  raw = '';
  content = '';
  readonly toolCalls: ToolCall[] = [];
  readonly #options: AnswerTextOptions;
  readonly #stop: StopFilter;
  readonly #parser: ToolCallParser | null;

  constructor(options: AnswerTextOptions) {
    this.#options = options;
    this.#stop = new StopFilter(options.stop);
    this.#parser = options.parseToolCalls ? new HermesParser() : null;
  }

  push(ids: number[]): void {
    for (let start = 0; start < ids.length; start += maxArguments) {
      const part = ids.length > maxArguments ? ids.slice(start, start + maxArguments) : ids;
      this.#read(this.#stop.push(this.#options.decoder.push(...part)));
    }
  }

  end(): void {
    this.#read(this.#stop.push(this.#options.decoder.finish()));
    this.#read(this.#stop.end());
    this.#parser?.end(this);
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

  #read(text: string): void {
    if (text === '') return;
    this.raw += text;
    if (this.#parser) this.#parser.push(text, this);
    else this.text(text);
  }
}
