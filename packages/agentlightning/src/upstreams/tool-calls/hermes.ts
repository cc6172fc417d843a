import { overlap } from '../stop-filter.ts';
import { memberText } from './json-value.ts';
import type { ToolCallParser, ToolCallSink } from './parser.ts';

const open = '<tool_call>';
const close = '</tool_call>';

/**
 * The form of Hermes and Qwen: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, any number of times, among text.
 * A call that is malformed or never closed is text. White space at the start and after a call belongs to the form: it is
 * dropped when a call or the end follows, and kept before other text.
 */
export class HermesParser implements ToolCallParser {
  #pending = '';
  #inCall = false;
  /** Where to look for the closing tag, so that a long call is searched once. */
  #searched = 0;
  #space: string | null = '';
  #calls = 0;

  push(text: string, sink: ToolCallSink): void {
    this.#pending += text;
    while (this.#inCall ? this.#closeCall(sink) : this.#openCall(sink));
  }

  end(sink: ToolCallSink): void {
    if (this.#pending !== '') this.#text(this.#pending, sink);
    if (this.#space && this.#calls === 0) sink.text(this.#space);
    this.#pending = '';
    this.#space = '';
  }

  #openCall(sink: ToolCallSink): boolean {
    const start = this.#pending.indexOf(open);
    const free = start >= 0 ? start : this.#pending.length - overlap(this.#pending, open);
    if (free > 0) this.#text(this.#pending.slice(0, free), sink);
    this.#pending = this.#pending.slice(free);
    this.#inCall = start >= 0;
    this.#searched = open.length;
    return this.#inCall;
  }

  #closeCall(sink: ToolCallSink): boolean {
    const end = this.#pending.indexOf(close, this.#searched);
    if (end < 0) {
      this.#searched = Math.max(open.length, this.#pending.length - close.length + 1);
      return false;
    }
    const call = readCall(this.#pending.slice(open.length, end));
    if (call === null) {
      this.#text(this.#pending.slice(0, end + close.length), sink);
    } else {
      sink.call(call.name, call.argumentsText);
      this.#calls += 1;
      this.#space = '';
    }
    this.#pending = this.#pending.slice(end + close.length);
    this.#inCall = false;
    return true;
  }

  #text(text: string, sink: ToolCallSink): void {
    if (this.#space === null) {
      sink.text(text);
    } else {
      const spaced = this.#space + text;
      this.#space = spaced.trim() === '' ? spaced : null;
      if (this.#space === null) sink.text(spaced);
    }
  }
}

function readCall(body: string): { name: string; argumentsText: string } | null {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const call = value as { name?: unknown; arguments?: unknown };
  if (typeof call.name !== 'string' || call.name === '') return null;
  if (call.arguments === undefined) return { name: call.name, argumentsText: '{}' };
  if (typeof call.arguments === 'string') return { name: call.name, argumentsText: call.arguments };
  return { name: call.name, argumentsText: memberText(body, 'arguments') ?? '{}' };
}
