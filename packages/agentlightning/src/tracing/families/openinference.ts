import type { Json, JsonObject } from '../../store/types.ts';
import type { ChatMessage } from '../chat.ts';
import { MessageBuilder, toolResult } from '../chat.ts';
import { addContent, chatMessage, chatTools } from '../forms/chat.ts';
import { unflatten } from '../forms/flat.ts';
import { asText, firstNumber, firstText, listOf, objectOf, objectsOf, parsed } from '../json.ts';
import { type Family, finishReason, type Reading } from './family.ts';

const kinds = new Map<string, Reading['kind']>([
  ['LLM', 'model'],
  ['TOOL', 'tool'],
  ['AGENT', 'agent'],
]);

/** OpenInference (github.com/Arize-ai/openinference, spec/semantic_conventions.md): flattened messages below `llm.`. */
export const openInference: Family = {
  name: 'OpenInference',
  read({ span, attributes }) {
    const given = firstText(attributes['openinference.span.kind']);
    if (given === null) return {};
    const kind = kinds.get(given) ?? null;
    const output = parsed(attributes['output.value']);
    const agent = firstText(attributes['agent.name'], attributes['graph.node.id']);
    const common = {
      kind,
      // Where an agent has no name of its own, the conventions put it into the span's.
      agentName: kind === 'agent' ? (agent ?? firstText(span.name)) : firstText(attributes['agent.name']),
    };
    if (kind === 'tool') return { ...common, tool: toolOf(attributes, span.name, output) };
    return kind === 'model' ? { ...common, ...modelOf(attributes, output) } : common;
  },
};

function modelOf(attributes: JsonObject, output: Json | undefined): Partial<Reading> {
  const prompt = messagesAt(attributes, 'llm.input_messages');
  const tools = chatTools(
    objectsOf(unflatten(attributes, 'llm.tools')).flatMap((item) => objectOf(item.tool)?.json_schema ?? []),
  );
  const reasons = reasonsIn(output);
  const answers = messagesAt(attributes, 'llm.output_messages').map((message, index) => ({
    message: { ...message, role: 'assistant' },
    finishReason: finishReason(reasons[index] ?? attributes['llm.finish_reason']),
  }));
  return {
    provider: firstText(attributes['llm.provider'], attributes['llm.system']),
    model: firstText(attributes['llm.model_name']),
    // There is no attribute for it, but most instrumentations keep the whole answer.
    responseId: firstText(objectOf(output)?.id),
    inputTokens: firstNumber(attributes['llm.token_count.prompt']),
    outputTokens: firstNumber(attributes['llm.token_count.completion']),
    ...(prompt.length > 0 ? { prompt } : {}),
    ...(answers.length > 0 ? { answers } : {}),
    ...(tools.length > 0 ? { tools } : {}),
  };
}

function reasonsIn(output: Json | undefined): unknown[] {
  return objectsOf(objectOf(output)?.choices).map((choice) => choice.finish_reason);
}

function messagesAt(attributes: JsonObject, prefix: string): ChatMessage[] {
  return objectsOf(unflatten(attributes, prefix)).flatMap((item) => {
    const message = objectOf(item.message);
    return message === null ? [] : messageOf(message, listOf(item.function));
  });
}

function messageOf(message: JsonObject, functions: readonly Json[]): ChatMessage[] {
  // AutoGen's results of functions: JSON texts of `{name, content, call_id}`.
  const results = objectsOf(functions.map((result) => parsed(result) ?? null));
  if (results.length > 0) return results.map((result) => toolResult(result.call_id, result.content));
  const calls = objectsOf(message.tool_calls).flatMap((call) => objectOf(call.tool_call) ?? []);
  const read = chatMessage({ ...message, tool_calls: calls });
  const contents = objectsOf(message.contents).flatMap((part) => objectOf(part.message_content) ?? []);
  if (contents.length === 0) return [read];
  const builder = new MessageBuilder(read.role);
  addContent(builder, contents);
  return [{ ...read, content: builder.message().content }];
}

function toolOf(attributes: JsonObject, spanName: string, output: Json | undefined) {
  const input = attributes['input.value'];
  return {
    name: firstText(attributes['tool.name'], spanName),
    callId: firstText(attributes['tool_call.id'], attributes['tool.id']),
    arguments: input === undefined ? null : asText(input),
    result: output === undefined ? null : asText(attributes['output.value']),
  };
}
