import type { Call, CallChoice, Json, JsonObject } from '../store/types.ts';

/** Text of token ids, special tokens included. */
export type Decode = (ids: Int32Array) => string;

/**
 * Why a prompt stopped agreeing with what came before.
 * - `retokenised`: the same text in other ids; somebody decoded the history and encoded it again.
 * - `template`: the messages are the same, their rendering is not, for instance because earlier thinking is cut out.
 * - `history_edited`: the client sent other messages, for instance after a compaction.
 * - `other`: no texts to compare, or a dialect whose messages cannot be read.
 */
export type BreakKind = 'retokenised' | 'template' | 'history_edited' | 'other';

interface Answer {
  call: Call;
  choice: CallChoice;
}

/** So many tokens from the first difference on are shown. */
const shownTokens = 16;

/** Compares a prompt with the prompt and answer (`expected`) that it might have continued, and does not. */
export function explainBreak(
  {
    previous,
    expected,
    call,
    promptIds,
  }: { previous: Answer; expected: Int32Array; call: Call; promptIds: Int32Array },
  firstDifference: number,
  decode: Decode,
): { kind: BreakKind; texts: { before: string; after: string } } {
  const shown = (ids: Int32Array) => decode(ids.subarray(firstDifference, firstDifference + shownTokens));
  return {
    kind: kindOf(previous, call, decode(expected), decode(promptIds)),
    texts: { before: shown(expected), after: shown(promptIds) },
  };
}

function kindOf(previous: Answer, call: Call, before: string, after: string): BreakKind {
  if (after.startsWith(before) || before.startsWith(after)) return 'retokenised';
  const earlier = messagesOf(previous.call);
  const messages = messagesOf(call);
  if (!earlier || !messages) return 'other';
  const history = [...earlier.map(contentOf), answerOf(previous.call, previous.choice)];
  const same = messages.slice(0, history.length).every((message, at) => contentOf(message) === history[at]);
  return same ? 'template' : 'history_edited';
}

function messagesOf({ request }: Call): JsonObject[] | null {
  const { messages } = request;
  return Array.isArray(messages) && messages.every(isObject) ? messages : null;
}

/** The answer as the client had it: the message of the response, else its text. */
function answerOf({ response }: Call, { index, text }: CallChoice): string {
  const choices = response && Array.isArray(response.choices) ? response.choices : [];
  const choice = choices.filter(isObject).find((candidate) => candidate.index === index);
  return contentOf(choice && isObject(choice.message) ? choice.message : { role: 'assistant', content: text });
}

/** What decides whether two messages say the same: not the ids of tool calls, nor how their arguments are written. */
function contentOf({ role, content, tool_calls: calls }: JsonObject): string {
  const called = (Array.isArray(calls) ? calls : []).map((call) => {
    const called = isObject(call) && isObject(call.function) ? call.function : {};
    return [called.name ?? null, parsed(called.arguments ?? null)];
  });
  return JSON.stringify([role ?? null, textOf(content ?? null), called]);
}

/** A list of text parts means the same as their text. */
function textOf(content: Json): Json {
  if (content === null) return '';
  if (!Array.isArray(content)) return content;
  const texts = content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : null));
  return texts.every((text) => text !== null) ? texts.join('') : content;
}

function parsed(value: Json): Json {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
