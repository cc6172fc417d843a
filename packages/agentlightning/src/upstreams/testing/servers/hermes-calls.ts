/** How a server itself reads Hermes calls: plainly, and apart from the parsers under test. */
const call = /<tool_call>\s*(\{.*?\})\s*<\/tool_call>/gs;

export function callsOf(text: string): { content: string | null; calls: object[] } {
  const calls = [...text.matchAll(call)].map((match, index) => {
    const { name, arguments: given } = JSON.parse(match[1] ?? '') as { name: string; arguments: unknown };
    return { id: `call-${index}`, type: 'function', function: { name, arguments: JSON.stringify(given) } };
  });
  const content = text.replace(call, '').trim();
  return { content: content === '' && calls.length > 0 ? null : content, calls };
}

/** Deltas of a stream: text until the first call, then each call's name and its arguments in two pieces. */
export class CallDeltas {
  count = 0;
  readonly #parses: boolean;
  #text = '';
  #sent = 0;

  constructor(parses: boolean) {
    this.#parses = parses;
  }

  push(text: string, last: boolean): object {
    if (!this.#parses) return { content: text };
    this.#text += text;
    const start = this.#text.indexOf('<');
    const free = start < 0 ? this.#text.length : start;
    const content = this.#text.slice(this.#sent, Math.max(free, this.#sent));
    this.#sent = Math.max(free, this.#sent);
    if (!last) return content === '' ? {} : { content };
    const { calls } = callsOf(this.#text);
    this.count = calls.length;
    const rest = calls.length === 0 ? this.#text.slice(this.#sent) : '';
    const tool_calls = (calls as { function: { name: string; arguments: string }; id: string }[]).flatMap(pieces);
    return { content: content + rest || null, ...(calls.length === 0 ? {} : { tool_calls }) };
  }
}

function pieces(one: { id: string; function: { name: string; arguments: string } }, index: number): object[] {
  const { name, arguments: text } = one.function;
  const middle = text.length >> 1;
  return [
    { id: one.id, type: 'function', index, function: { name, arguments: text.slice(0, middle) } },
    { index, function: { arguments: text.slice(middle) } },
  ];
}
