import type { Json, JsonObject } from '../../store/types.ts';
import { toolDefinition } from '../chat.ts';
import { chatMessage, contentParts } from '../forms/chat.ts';
import { unflatten } from '../forms/flat.ts';
import { firstText, objectsOf, parsed } from '../json.ts';
import { type Family, finishReason } from './family.ts';
import { finishReasonsOf } from './gen-ai.ts';

/**
 * First generation: `gen_ai.prompt.0.role`, `gen_ai.completion.0.content`, …, as early OpenLLMetry, AgentOps and LiteLLM write them;
 * or, for a short time, both as one JSON text on the events `gen_ai.content.prompt` and `gen_ai.content.completion`.
 */
export const genAiPrompts: Family = {
  name: 'OpenTelemetry GenAI, numbered prompts',
  read({ attributes, events }) {
    const onEvents = (name: string, field: string) =>
      parsed(events.find((event) => event.name === name)?.attributes[field]);
    const prompts = numbered(attributes, 'gen_ai.prompt') ?? onEvents('gen_ai.content.prompt', 'gen_ai.prompt');
    const completions =
      numbered(attributes, 'gen_ai.completion') ?? onEvents('gen_ai.content.completion', 'gen_ai.completion');
    const prompt = objectsOf(prompts).map((message) => chatMessage(plain(message), impliedRole(message)));
    const reasons = finishReasonsOf(attributes);
    const answers = objectsOf(completions).map((message, index) => ({
      message: { ...chatMessage(plain(message)), role: 'assistant' },
      finishReason: finishReason(message.finish_reason ?? reasons[index]),
    }));
    const tools = objectsOf(unflatten(attributes, 'llm.request.functions')).map((tool) =>
      toolDefinition(tool.name, tool.description, parsed(tool.parameters)),
    );
    const asksModel = /^(chat|completion)$/.test(firstText(attributes['llm.request.type']) ?? '');
    return {
      ...(prompt.length > 0 ? { prompt } : {}),
      ...(answers.length > 0 ? { answers } : {}),
      ...(tools.length > 0 ? { tools } : {}),
      ...(asksModel || answers.length > 0 ? { kind: 'model' } : {}),
    };
  },
};

function numbered(attributes: JsonObject, prefix: string): Json | undefined {
  const found = unflatten(attributes, prefix);
  return Array.isArray(found) ? found : undefined;
}

function plain(message: JsonObject): JsonObject {
  const { content } = message;
  return content === undefined || impliedRole(message) === 'tool'
    ? message
    : { ...message, content: contentParts(content) };
}

/** Repeated messages sometimes lack their role; those with calls or results can only be of one. */
function impliedRole(message: JsonObject): string {
  if (message.tool_calls !== undefined) return 'assistant';
  return message.tool_call_id === undefined ? 'user' : 'tool';
}
