import type { Json, JsonObject } from '../../store/types.ts';
import {
  fieldsOf,
  langchainGenerations,
  langchainInput,
  langchainMessage,
  langchainResponseId,
} from '../forms/langchain.ts';
import { asText, firstText, objectOf, parsed, textOf } from '../json.ts';
import { type Family, finishReason, type Reading } from './family.ts';

const kinds = new Map<string, Reading['kind']>([
  ['llm', 'model'],
  ['tool', 'tool'],
]);
/** Nodes of LangChain's ready-made agents: not the names of agents. */
const innerNodes = new Set(['__start__', 'agent', 'model', 'model_request', 'call_model', 'tools']);

/**
 * LangChain and LangGraph, by LangSmith's OpenTelemetry export (`langsmith.*`, with inputs and outputs as JSON in `gen_ai.prompt` and
 * `gen_ai.completion`) or by OpenInference (the same JSON in `input.value` and `output.value`).
 */
export const langchain: Family = {
  name: 'LangChain and LangSmith',
  read({ attributes }) {
    const fromLangSmith = firstText(attributes['langsmith.span.kind']);
    const metadata = metadataOf(attributes);
    if (fromLangSmith === null && metadata === null) return {};
    const input = parsed(attributes['gen_ai.prompt'] ?? attributes['input.value']);
    const output = parsed(attributes['gen_ai.completion'] ?? attributes['output.value']);
    const kind = fromLangSmith === null ? null : (kinds.get(fromLangSmith) ?? null);
    return {
      ...(kind === null ? {} : { kind }),
      agentName: agentOf(metadata ?? {}),
      ...contentOf(input, output),
      ...toolOf(attributes, output, kind === 'tool'),
    };
  },
};

/** The run's metadata, whole in one attribute or one attribute for each. */
function metadataOf(attributes: JsonObject): JsonObject | null {
  const whole = objectOf(parsed(attributes.metadata));
  if (whole !== null && ('lc_agent_name' in whole || 'langgraph_node' in whole || 'ls_provider' in whole)) return whole;
  const prefix = 'langsmith.metadata.';
  const single = Object.entries(attributes).filter(([name]) => name.startsWith(prefix));
  return single.length === 0
    ? null
    : Object.fromEntries(single.map(([name, value]) => [name.slice(prefix.length), value]));
}

/** `create_agent` names its agent. In a graph of one's own the outermost node is the agent: `researcher:<id>|model:<id>`. */
function agentOf(metadata: JsonObject): string | null {
  const named = firstText(metadata.lc_agent_name);
  if (named !== null) return named;
  const outermost = firstText(metadata.langgraph_checkpoint_ns)?.split('|')[0]?.split(':')[0];
  const node = firstText(outermost, metadata.langgraph_node);
  return node === null || innerNodes.has(node) ? null : node;
}

function contentOf(input: Json | undefined, output: Json | undefined): Partial<Reading> {
  const generations = langchainGenerations(output);
  const [first] = generations;
  if (first === undefined) return {};
  const prompt = langchainInput(input).map(langchainMessage);
  const message = objectOf(first.message);
  return {
    ...(prompt.length > 0 ? { prompt } : {}),
    responseId: message === null ? null : langchainResponseId(message),
    answers: generations.flatMap((generation) => {
      const answer = objectOf(generation.message);
      if (answer === null) return [];
      const info = objectOf(generation.generation_info) ?? objectOf(generation.generationInfo);
      const reason = info?.finish_reason ?? objectOf(fieldsOf(answer).response_metadata)?.finish_reason;
      return [{ message: { ...langchainMessage(answer), role: 'assistant' }, finishReason: finishReason(reason) }];
    }),
  };
}

/** A tool's output is a message of LangChain, itself or within `output`, or that message's text. */
function toolOf(attributes: JsonObject, output: Json | undefined, byLangSmith: boolean): Partial<Reading> {
  const message = objectOf(objectOf(output)?.output) ?? (objectOf(objectOf(output)?.data) && objectOf(output));
  const fields = message === null ? null : fieldsOf(message);
  const isTool = byLangSmith || firstText(attributes['openinference.span.kind']) === 'TOOL';
  if (!isTool) return {};
  const input = attributes['gen_ai.prompt'] ?? attributes['input.value'];
  const result = fields?.content ?? objectOf(output)?.output ?? output;
  return {
    tool: {
      name: firstText(attributes['tool.name'], attributes['gen_ai.tool.name'], fields?.name),
      callId: firstText(fields?.tool_call_id, attributes['gen_ai.tool.call.id']),
      arguments: textOf(input),
      result: result === undefined ? null : asText(result),
    },
  };
}
