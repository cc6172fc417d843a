import { EngineError } from '../errors.ts';
import { isJsonObject } from '../files/index.ts';

/** A message in OpenAI's form: `content` is a text, null or text parts; arguments of `tool_calls` may be JSON texts. */
export type ChatMessage = Readonly<{ role: string } & Record<string, unknown>>;

/**
 * Messages as templates expect them: content always one text, tool call arguments as objects where they are valid JSON
 * objects (otherwise the text that the model wrote).
 *
 * @throws {EngineError} `content_unsupported`, naming the message and the part
 */
export function templateMessages(messages: readonly ChatMessage[]): Record<string, unknown>[] {
  return messages.map((message, index) => {
    const content = contentText(message.content, `messages[${index}].content`);
    const calls = message.tool_calls;
    return { ...message, content, ...(Array.isArray(calls) && { tool_calls: calls.map(withParsedArguments) }) };
  });
}

/** Several parts are joined by line breaks, as vLLM does for templates that know only texts. */
function contentText(content: unknown, where: string): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw unsupported(where, typeof content);
  return content
    .map((part: unknown, index) => {
      if (typeof part === 'string') return part;
      if (isJsonObject(part) && typeof part.text === 'string') return part.text;
      throw unsupported(`${where}[${index}]`, isJsonObject(part) ? String(part.type) : typeof part);
    })
    .join('\n');
}

function withParsedArguments(call: unknown): unknown {
  if (!isJsonObject(call)) return call;
  if (isJsonObject(call.function)) return { ...call, function: withParsedArguments(call.function) };
  return typeof call.arguments === 'string' ? { ...call, arguments: parsedObject(call.arguments) } : call;
}

function parsedObject(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : text;
  } catch {
    return text;
  }
}

function unsupported(where: string, kind: string): EngineError {
  return new EngineError({
    code: 'content_unsupported',
    message: `${where} is of type "${kind}"; the model reads text only.`,
    hint: 'Send content as a text, or as parts of type "text".',
    category: 'user',
  });
}
