import { overlap } from '../stop-filter.ts';
import { readCallHead, type WrittenCall } from './call-json.ts';
import { ObjectScanner } from './object-scanner.ts';
import type { ToolCallParser, ToolCallSink } from './parser.ts';
import { SurroundingText } from './surrounding-text.ts';

export interface TaggedCallsOptions {
  open: string;
  close: string;
  /** What stands between the tags; null: it is no call, and stays text with its tags. */
  read(body: string): WrittenCall[] | null;
  /** Tell the arguments of calls in JSON as they come. */
  incremental: boolean;
}

/** Calls between tags, any number of times, among text. One that is malformed or never closed is text. */
export class TaggedCallParser implements ToolCallParser {
  readonly #options: TaggedCallsOptions;
  readonly #around = new SurroundingText();
  #pending = '';
  #state: 'text' | 'call' | 'arguments' | 'behind' = 'text';
  /** Where to look for the closing tag, so that a long call is searched once. */
  #searched = 0;
  #scanner = new ObjectScanner();

  constructor(options: TaggedCallsOptions) {
    this.#options = options;
  }

  push(text: string, sink: ToolCallSink): void {
    this.#pending += text;
    while (this.#step(sink));
  }

  end(sink: ToolCallSink): void {
    if (this.#state === 'arguments' || this.#state === 'behind') sink.endCall();
    else if (this.#pending !== '') this.#around.push(this.#pending, sink);
    this.#around.end(sink);
    this.#pending = '';
    this.#state = 'text';
  }

  /** @returns true when there may be more to read of what is pending */
  #step(sink: ToolCallSink): boolean {
    switch (this.#state) {
      case 'text':
        return this.#openCall(sink);
      case 'call':
        return (this.#options.incremental && this.#beginArguments(sink)) || this.#closeCall(sink);
      case 'arguments':
        return this.#readArguments(sink);
      case 'behind':
        return this.#leaveCall(sink);
    }
  }

  #openCall(sink: ToolCallSink): boolean {
    const { open } = this.#options;
    const start = this.#pending.indexOf(open);
    const free = start >= 0 ? start : this.#pending.length - overlap(this.#pending, open);
    if (free > 0) this.#around.push(this.#pending.slice(0, free), sink);
    this.#pending = this.#pending.slice(free);
    if (start < 0) return false;
    this.#state = 'call';
    this.#searched = open.length;
    return true;
  }

  #closeCall(sink: ToolCallSink): boolean {
    const { open, close, read } = this.#options;
    const end = this.#pending.indexOf(close, this.#searched);
    if (end < 0) {
      this.#searched = Math.max(open.length, this.#pending.length - close.length + 1);
      return false;
    }
    const calls = read(this.#pending.slice(open.length, end));
    if (calls === null) this.#around.push(this.#pending.slice(0, end + close.length), sink);
    else this.#around.call();
    for (const call of calls ?? []) sink.call(call.name, call.argumentsText);
    this.#pending = this.#pending.slice(end + close.length);
    this.#state = 'text';
    return true;
  }

  #beginArguments(sink: ToolCallSink): boolean {
    const head = readCallHead(this.#pending.slice(this.#options.open.length));
    if (head === null) return false;
    sink.beginCall(head.name);
    this.#pending = this.#pending.slice(this.#options.open.length + head.start);
    this.#scanner = new ObjectScanner();
    this.#state = 'arguments';
    return true;
  }

  #readArguments(sink: ToolCallSink): boolean {
    const length = this.#scanner.push(this.#pending);
    sink.callArguments(this.#pending.slice(0, length));
    const broken = length < this.#pending.length && !this.#scanner.ended;
    this.#pending = this.#pending.slice(length);
    if (!broken && !this.#scanner.ended) return false;
    this.#state = 'behind';
    return true;
  }

  /** What stands between the arguments and the closing tag closes the JSON, and says nothing. */
  #leaveCall(sink: ToolCallSink): boolean {
    const { close } = this.#options;
    const end = this.#pending.indexOf(close);
    if (end < 0) {
      this.#pending = this.#pending.slice(this.#pending.length - overlap(this.#pending, close));
      return false;
    }
    sink.endCall();
    this.#around.call();
    this.#pending = this.#pending.slice(end + close.length);
    this.#state = 'text';
    return true;
  }
}
