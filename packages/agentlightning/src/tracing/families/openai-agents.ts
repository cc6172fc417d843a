import type { JsonObject } from '../../store/types.ts';
import { chatMessage, chatTools } from '../forms/chat.ts';
import { responsesMessages } from '../forms/responses.ts';
import { asText, firstNumber, firstText, objectOf, objectsOf, parsed } from '../json.ts';
import { type Family, finishReason, type Reading } from './family.ts';

/**
 * Spans of OpenAI's Agents SDK as it hands them to its trace processors: the span's own data whole, as JSON in
 * `openai.agents.span_data`. Our client's processor writes this form; `response` spans bring request and answer along.
 */
export const openAiAgents: Family = {
  name: 'OpenAI Agents SDK',
  read({ attributes }) {
    const data = objectOf(parsed(attributes['openai.agents.span_data']));
    if (data === null) return {};
    if (data.type === 'agent') return { kind: 'agent', agentName: firstText(data.name) };
    if (data.type === 'function') return { kind: 'tool', tool: toolOf(data) };
    if (data.type === 'response') return { kind: 'model', provider: 'openai', ...responseOf(data) };
    return data.type === 'generation' ? { kind: 'model', provider: 'openai', ...generationOf(data) } : {};
  },
};

function toolOf({ name, input, output }: JsonObject) {
  return {
    name: firstText(name),
    callId: null,
    arguments: input === undefined ? null : asText(input),
    result: output === undefined ? null : asText(output),
  };
}

function responseOf(data: JsonObject): Partial<Reading> {
  const response = objectOf(data._response ?? data.response) ?? {};
  const input = data._input ?? data.input;
  const instructions = firstText(response.instructions);
  const usage = objectOf(response.usage);
  const [message] = responsesMessages(response.output);
  const tools = chatTools(response.tools);
  const hasCalls = message?.tool_calls !== undefined;
  return {
    model: firstText(response.model),
    responseId: firstText(data.response_id, response.id),
    ...(input === undefined
      ? {}
      : {
          prompt: [
            ...(instructions === null ? [] : [{ role: 'system', content: instructions }]),
            ...responsesMessages(input),
          ],
        }),
    ...(tools.length > 0 ? { tools } : {}),
    ...(message === undefined
      ? {}
      : { answers: [{ message, finishReason: hasCalls ? 'tool_calls' : finishReason(response.status) }] }),
    inputTokens: firstNumber(usage?.input_tokens),
    outputTokens: firstNumber(usage?.output_tokens),
  };
}

/** In the mode of the chat API: the messages, and whole answers of it. */
function generationOf(data: JsonObject): Partial<Reading> {
  const usage = objectOf(data.usage);
  const output = objectsOf(data.output);
  const choices = output.flatMap((answer) => objectsOf(answer.choices));
  const messages = choices.length > 0 ? choices.map(({ message }) => objectOf(message) ?? {}) : output;
  const prompt = objectsOf(data.input).map((message) => chatMessage(message));
  return {
    model: firstText(data.model),
    responseId: firstText(...output.map(({ id }) => id)),
    ...(prompt.length > 0 ? { prompt } : {}),
    answers: messages.map((message, index) => ({
      message: { ...chatMessage(message), role: 'assistant' },
      finishReason: finishReason(choices[index]?.finish_reason),
    })),
    inputTokens: firstNumber(usage?.input_tokens, usage?.prompt_tokens),
    outputTokens: firstNumber(usage?.output_tokens, usage?.completion_tokens),
  };
}
