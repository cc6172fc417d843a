import { overlap } from '../stop-filter.ts';
import { readCall } from './call-json.ts';
import { ObjectScanner } from './object-scanner.ts';
import type { ToolCallFormat, ToolCallParser, ToolCallSink } from './parser.ts';
import { SurroundingText } from './surrounding-text.ts';

const open = '[TOOL_CALLS]';
const named = /^\s*([\w.-]+)(?:\[CALL_ID\]\w*)?\[ARGS\]\s*(?=\{)/;
/** Beginnings of the two forms, as long as neither is whole. */
const unfinished =
  /^\s*(?:\[[\s\S]*|[\w.-]*|[\w.-]+\[[A-Z_]*|[\w.-]+\[CALL_ID\]\w*(?:\[[A-Z]*)?|[\w.-]+(?:\[CALL_ID\]\w*)?\[ARGS\]\s*)$/;

/**
 * Mistral: `[TOOL_CALLS][{"name": …, "arguments": {…}}, …]` to Mistral Small 3.1, and
 * `[TOOL_CALLS]name[ARGS]{…}` (with `[CALL_ID]id` between in some) after it, repeated for each call.
 */
export const mistral: ToolCallFormat = {
  name: 'mistral',
  writtenBy: (template) => template.includes(open),
  markers: [open, '[ARGS]', '[CALL_ID]'],
  createParser: ({ incremental }) => new MistralParser(incremental),
};

class MistralParser implements ToolCallParser {
  readonly #incremental: boolean;
  readonly #around = new SurroundingText();
  #pending = '';
  #state: 'text' | 'call' | 'arguments' = 'text';
  #scanner = new ObjectScanner();
  #name = '';
  #written = '';

  constructor(incremental: boolean) {
    this.#incremental = incremental;
  }

  push(text: string, sink: ToolCallSink): void {
    this.#pending += text;
    while (this.#step(sink));
  }

  end(sink: ToolCallSink): void {
    if (this.#state === 'arguments' && this.#incremental) sink.endCall();
    else if (this.#written + this.#pending !== '') this.#around.push(this.#written + this.#pending, sink);
    this.#around.end(sink);
    this.#pending = '';
    this.#written = '';
  }

  #step(sink: ToolCallSink): boolean {
    if (this.#state === 'text') return this.#findCall(sink);
    return this.#state === 'call' ? this.#readHead(sink) : this.#readArguments(sink);
  }

  #findCall(sink: ToolCallSink): boolean {
    const start = this.#pending.indexOf(open);
    const free = start >= 0 ? start : this.#pending.length - overlap(this.#pending, open);
    if (free > 0) this.#around.push(this.#pending.slice(0, free), sink);
    this.#pending = this.#pending.slice(free);
    if (start >= 0) this.#state = 'call';
    return start >= 0;
  }

  #readHead(sink: ToolCallSink): boolean {
    const body = this.#pending.slice(open.length);
    const match = named.exec(body);
    if (match !== null) {
      this.#name = match[1] ?? '';
      this.#written = open + match[0];
      this.#pending = body.slice(match[0].length);
      this.#scanner = new ObjectScanner();
      this.#state = 'arguments';
      if (this.#incremental) sink.beginCall(this.#name);
      return true;
    }
    return this.#readList(body, sink);
  }

  #readList(body: string, sink: ToolCallSink): boolean {
    const list = body.trimStart();
    if (list.startsWith('[')) {
      const scanner = new ObjectScanner();
      const length = scanner.push(list);
      if (!scanner.ended && length === list.length) return false;
      const calls = scanner.ended ? callsOf(list.slice(0, length)) : null;
      for (const call of calls ?? []) sink.call(call.name, call.argumentsText);
      if (calls !== null) {
        this.#around.call();
        this.#pending = list.slice(length);
        this.#state = 'text';
        return true;
      }
    } else if (unfinished.test(body)) {
      return false;
    }
    // No call after all: the marker is text, and what is behind it is read on.
    this.#around.push(open, sink);
    this.#pending = body;
    this.#state = 'text';
    return true;
  }

  #readArguments(sink: ToolCallSink): boolean {
    const length = this.#scanner.push(this.#pending);
    const piece = this.#pending.slice(0, length);
    const broken = length < this.#pending.length && !this.#scanner.ended;
    this.#pending = this.#pending.slice(length);
    if (this.#incremental) sink.callArguments(piece);
    else this.#written += piece;
    if (!broken && !this.#scanner.ended) return false;
    if (this.#incremental) sink.endCall();
    else this.#tellWhole(sink);
    this.#written = '';
    this.#state = 'text';
    return true;
  }

  #tellWhole(sink: ToolCallSink): void {
    const argumentsText = this.#written.slice(this.#written.indexOf('{'));
    if (!isJson(argumentsText)) {
      this.#around.push(this.#written, sink);
      return;
    }
    sink.call(this.#name, argumentsText);
    this.#around.call();
  }
}

function callsOf(list: string): NonNullable<ReturnType<typeof readCall>>[] | null {
  if (!isJson(list)) return null;
  const calls = objectsOf(list.slice(1, -1)).map(readCall);
  return calls.length > 0 && calls.every((call) => call !== null) ? calls : null;
}

/** The texts of a list's objects. */
function objectsOf(list: string): string[] {
  const objects: string[] = [];
  let rest = list;
  for (let start = rest.indexOf('{'); start >= 0; start = rest.indexOf('{')) {
    rest = rest.slice(start);
    const length = new ObjectScanner().push(rest);
    objects.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return objects;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
