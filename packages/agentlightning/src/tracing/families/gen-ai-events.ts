import type { JsonObject } from '../../store/types.ts';
import type { ChatMessage } from '../chat.ts';
import { chatMessage, contentParts } from '../forms/chat.ts';
import { firstText, objectOf, parsed } from '../json.ts';
import { type Answer, type Family, finishReason, type ViewEvent } from './family.ts';

const roles = new Map<string, string>([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
]);

/** Second generation, 1.28 to 1.36: one event for each message, on the span or as log records within it. */
export const genAiEvents: Family = {
  name: 'OpenTelemetry GenAI, events',
  read({ events }) {
    const prompt = events.flatMap((event) => {
      const role = roles.get(event.name);
      return role === undefined ? [] : [promptMessage(bodyOf(event), role)];
    });
    const answers = events.flatMap((event) => (event.name === 'gen_ai.choice' ? [answerOf(bodyOf(event))] : []));
    return {
      ...(prompt.length > 0 ? { prompt } : {}),
      ...(answers.length > 0 ? { answers } : {}),
      ...(answers.length > 0 ? { kind: 'model' } : {}),
    };
  },
};

/** The body of a log record; events of spans have it in their attributes, as a whole (`gen_ai.event.content`) or field by field. */
function bodyOf({ name, attributes, body }: ViewEvent): JsonObject {
  if (body !== null) return body;
  const whole = objectOf(parsed(attributes['gen_ai.event.content']));
  if (whole !== null) return whole;
  const { tool_calls: calls, message, content } = attributes;
  return {
    ...attributes,
    ...(calls === undefined ? {} : { tool_calls: parsed(calls)! }),
    ...(message === undefined ? {} : { message: parsed(message)! }),
    // What a tool returned may look like parts and is a text all the same.
    ...(content === undefined || name === 'gen_ai.tool.message' ? {} : { content: contentParts(content) }),
  };
}

function promptMessage(body: JsonObject, role: string): ChatMessage {
  const message = chatMessage(body, role);
  // The result of a tool names its call as `id`.
  const callId = message.role === 'tool' ? firstText(body.tool_call_id, body.id) : null;
  return callId === null ? message : { ...message, tool_call_id: callId };
}

function answerOf(body: JsonObject): Answer {
  // Some write the message's fields into the choice itself.
  const { message } = body;
  const inner = objectOf(message) ?? (message === undefined ? body : { content: message });
  return {
    message: { ...chatMessage(inner, 'assistant'), role: 'assistant' },
    finishReason: finishReason(body.finish_reason),
  };
}
