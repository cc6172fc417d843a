import type { JsonObject } from '../store/types.ts';
import type { Message, ToolDefinition } from './upstream.ts';

/** A message in OpenAI's form, which services and chat templates both read. */
export function messageBody(message: Message): JsonObject & { role: string } {
  const body: JsonObject & { role: string } = { role: message.role, content: message.content };
  if (message.reasoning !== undefined) body.reasoning_content = message.reasoning;
  if (message.name !== undefined) body.name = message.name;
  if (message.toolCallId !== undefined) body.tool_call_id = message.toolCallId;
  if (message.toolCalls !== undefined) {
    if (message.content === '') body.content = null;
    body.tool_calls = message.toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    }));
  }
  return body;
}

export function toolBody(tool: ToolDefinition): JsonObject {
  return { type: 'function', function: { ...tool } };
}
