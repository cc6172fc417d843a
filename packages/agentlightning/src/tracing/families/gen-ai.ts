import { chatTools } from '../forms/chat.ts';
import { firstNumber, firstText, listOf, parsed } from '../json.ts';
import type { Family, Reading } from './family.ts';

const kinds = new Map<string, Reading['kind']>([
  ['chat', 'model'],
  ['generate_content', 'model'],
  ['text_completion', 'model'],
  ['execute_tool', 'tool'],
  ['invoke_agent', 'agent'],
  // Part of `invoke_agent` since 0.1 of the conventions.
  ['invoke_workflow', 'agent'],
  ['create_agent', 'agent'],
]);

/**
 * What the generations of OpenTelemetry's GenAI conventions have in common
 * (github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md).
 */
export const genAi: Family = {
  name: 'OpenTelemetry GenAI',
  read({ attributes }) {
    const at = (name: string) => attributes[`gen_ai.${name}`];
    const operation = firstText(at('operation.name'));
    const definitions = chatTools(parsed(at('tool.definitions')));
    const tool = {
      name: firstText(at('tool.name')),
      callId: firstText(at('tool.call.id')),
      arguments: textOrJson(at('tool.call.arguments')),
      result: textOrJson(at('tool.call.result')),
    };
    return {
      kind: operation === null ? null : (kinds.get(operation) ?? null),
      agentName: firstText(at('agent.name')),
      provider: firstText(at('provider.name'), at('system')),
      model: firstText(at('response.model'), at('request.model')),
      responseId: firstText(at('response.id')),
      tools: definitions.length > 0 ? definitions : null,
      inputTokens: firstNumber(at('usage.input_tokens'), at('usage.prompt_tokens')),
      outputTokens: firstNumber(at('usage.output_tokens'), at('usage.completion_tokens')),
      tool: tool.name === null ? null : tool,
    };
  },
};

/** The finish reasons of all choices, where a generation writes them apart from the answers. */
export function finishReasonsOf(attributes: Readonly<Record<string, unknown>>): readonly unknown[] {
  return listOf(parsed(attributes['gen_ai.response.finish_reasons']));
}

function textOrJson(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
