import { readCall, readCallHead } from './call-json.ts';
import { ObjectScanner } from './object-scanner.ts';
import type { ToolCallFormat, ToolCallParser, ToolCallSink } from './parser.ts';
import { pythonCall } from './python-call.ts';

const tag = '<|python_tag|>';

/**
 * Llama 3.1 to 3.3: an answer that is a call from its first character on: `{"name": …, "parameters": {…}}`, several parted
 * by `;`, with or without `<|python_tag|>` before each; or, for the built-in tools, `<|python_tag|>name.call(key="value")`.
 */
export const llama3: ToolCallFormat = {
  name: 'llama3',
  writtenBy: (template) => template.includes(tag) || template.includes('<|start_header_id|>'),
  markers: [tag],
  createParser: ({ incremental }) => new Llama3Parser(incremental),
};

class Llama3Parser implements ToolCallParser {
  readonly #incremental: boolean;
  #state: 'start' | 'object' | 'arguments' | 'behind' | 'python' | 'text' = 'start';
  #pending = '';
  #calls = 0;
  #scanner = new ObjectScanner();
  /** Brackets still open around the arguments that have been told. */
  #outer = new ObjectScanner();

  constructor(incremental: boolean) {
    this.#incremental = incremental;
  }

  push(text: string, sink: ToolCallSink): void {
    this.#pending += text;
    while (this.#step(sink));
  }

  end(sink: ToolCallSink): void {
    if (this.#state === 'arguments' || this.#state === 'behind') sink.endCall();
    else if (this.#state === 'python') this.#endPython(sink);
    else if (this.#pending.trim() !== '' || this.#calls === 0) this.#tellText(sink);
    this.#pending = '';
    this.#state = 'start';
  }

  #step(sink: ToolCallSink): boolean {
    switch (this.#state) {
      case 'start':
        return this.#begin();
      case 'object':
        return (this.#incremental && this.#beginArguments(sink)) || this.#readObject(sink);
      case 'arguments':
        return this.#readArguments(sink);
      case 'behind':
        return this.#leaveObject(sink);
      case 'python':
        return false;
      case 'text':
        this.#tellText(sink);
        return false;
    }
  }

  /** The first characters decide; behind a call, `;` and white space part it from the next. */
  #begin(): boolean {
    const skipped = this.#calls === 0 ? /^\s*/ : /^[\s;]*/;
    const rest = this.#pending.replace(skipped, '');
    if (rest === '' || (rest !== tag && tag.startsWith(rest))) return false;
    const tagged = rest.startsWith(tag);
    const body = tagged ? rest.slice(tag.length).trimStart() : rest;
    if (tagged && body === '') return false;
    if (body.startsWith('{')) this.#state = 'object';
    else this.#state = tagged ? 'python' : 'text';
    if (this.#state === 'object') this.#pending = body;
    if (this.#state === 'python') this.#pending = rest;
    return true;
  }

  #readObject(sink: ToolCallSink): boolean {
    const scanner = new ObjectScanner();
    const length = scanner.push(this.#pending);
    if (!scanner.ended && length === this.#pending.length) return false;
    const call = scanner.ended ? readCall(this.#pending.slice(0, length)) : null;
    if (call === null) {
      this.#state = 'text';
      return true;
    }
    sink.call(call.name, call.argumentsText);
    this.#pending = this.#pending.slice(length);
    this.#ended();
    return true;
  }

  #beginArguments(sink: ToolCallSink): boolean {
    const head = readCallHead(this.#pending);
    if (head === null) return false;
    sink.beginCall(head.name);
    this.#outer = new ObjectScanner();
    this.#outer.push(this.#pending.slice(0, head.start));
    this.#scanner = new ObjectScanner();
    this.#pending = this.#pending.slice(head.start);
    this.#state = 'arguments';
    return true;
  }

  #readArguments(sink: ToolCallSink): boolean {
    const length = this.#scanner.push(this.#pending);
    sink.callArguments(this.#pending.slice(0, length));
    const stuck = length < this.#pending.length || this.#scanner.ended;
    this.#pending = this.#pending.slice(length);
    if (stuck) this.#state = 'behind';
    return stuck;
  }

  #leaveObject(sink: ToolCallSink): boolean {
    const length = this.#outer.push(this.#pending);
    const stuck = length < this.#pending.length || this.#outer.ended;
    this.#pending = this.#pending.slice(length);
    if (!stuck) return false;
    sink.endCall();
    this.#ended();
    return true;
  }

  #ended(): void {
    this.#calls += 1;
    this.#state = 'start';
  }

  #endPython(sink: ToolCallSink): void {
    const call = pythonCall(this.#pending.slice(tag.length));
    if (call === null) this.#tellText(sink);
    else sink.call(call.name, call.argumentsText);
  }

  #tellText(sink: ToolCallSink): void {
    if (this.#pending !== '') sink.text(this.#pending);
    this.#pending = '';
  }
}
