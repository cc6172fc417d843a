import type { JsonObject } from '../../store/types.ts';
import { MessageBuilder } from '../chat.ts';
import { aiSdkMessages, aiSdkToolCall } from '../forms/ai-sdk.ts';
import { chatTools } from '../forms/chat.ts';
import { asText, firstNumber, firstText, objectsOf, parsed } from '../json.ts';
import { type Answer, type Family, finishReason, type Reading } from './family.ts';

/** Each generates in one or several steps; a step is a span `….doGenerate` or `….doStream` within. */
const wholes = /^ai\.(generateText|streamText|generateObject|streamObject)$/;
const steps = /^ai\.\w+\.do(Generate|Stream)$/;

/** Vercel's AI SDK, `experimental_telemetry` of versions 4 to 6; version 7 writes the GenAI conventions. */
export const aiSdk: Family = {
  name: 'Vercel AI SDK',
  read({ span, attributes }) {
    const operation = firstText(attributes['ai.operationId'], span.name);
    if (operation === null || !operation.startsWith('ai.')) return {};
    const agentName = firstText(attributes['ai.telemetry.functionId']);
    // The whole repeats the first prompt and sums up usage: its steps are what was asked of the model.
    if (wholes.test(operation)) return { kind: 'agent', agentName };
    if (operation === 'ai.toolCall') return { kind: 'tool', agentName, tool: toolOf(attributes) };
    return steps.test(operation) ? { kind: 'model', agentName, ...stepOf(attributes) } : { agentName };
  },
};

function toolOf(attributes: JsonObject) {
  const at = (name: string) => attributes[`ai.toolCall.${name}`];
  const result = at('result') ?? at('output');
  const given = at('args') ?? at('input');
  return {
    name: firstText(at('name')),
    callId: firstText(at('id')),
    arguments: given === undefined ? null : asText(given),
    result: result === undefined ? null : asText(result),
  };
}

function stepOf(attributes: JsonObject): Partial<Reading> {
  const at = (name: string) => attributes[`ai.${name}`];
  const prompt = aiSdkMessages(parsed(at('prompt.messages')));
  const tools = chatTools(parsed(at('prompt.tools')));
  const answer = answerOf(attributes);
  return {
    provider: firstText(at('model.provider')),
    model: firstText(at('response.model'), at('model.id')),
    responseId: firstText(at('response.id')),
    inputTokens: firstNumber(at('usage.inputTokens'), at('usage.promptTokens')),
    outputTokens: firstNumber(at('usage.outputTokens'), at('usage.completionTokens')),
    ...(prompt.length > 0 ? { prompt } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(answer === null ? {} : { answers: [answer] }),
  };
}

function answerOf(attributes: JsonObject): Answer | null {
  const builder = new MessageBuilder('assistant');
  const reasoning = firstText(attributes['ai.response.reasoning']);
  if (reasoning !== null) builder.reasoning(reasoning);
  const text = firstText(attributes['ai.response.text'], attributes['ai.response.object']);
  if (text !== null) builder.text(text);
  for (const call of objectsOf(parsed(attributes['ai.response.toolCalls']))) builder.call(aiSdkToolCall(call));
  if (builder.isEmpty) return null;
  return { message: builder.message(), finishReason: finishReason(attributes['ai.response.finishReason']) };
}
