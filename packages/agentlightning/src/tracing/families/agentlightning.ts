import type { Json, JsonObject } from '../../store/types.ts';
import { chatMessage, chatTools } from '../forms/chat.ts';
import { unflatten } from '../forms/flat.ts';
import { firstText, listOf, numberOf, objectOf, objectsOf, parsed } from '../json.ts';
import { type Family, finishReason, type Reading, type TokenReading } from './family.ts';

/**
 * Spans of the Python project's 0.x: its proxy and its AgentOps tracer write GenAI's numbered prompts with token ids beside
 * (`prompt_token_ids`, `response_token_ids`, `logprobs.content`); its Weave tracer flattens request and answer below
 * `agentlightning.operation.`.
 */
export const agentLightning: Family = {
  name: 'Agent Lightning 0.x',
  read({ attributes }) {
    const tokens = tokensOf(attributes);
    const operation = operationOf(attributes);
    return { ...operation, ...(tokens === null ? {} : { tokens }) };
  },
};

function operationOf(attributes: JsonObject): Partial<Reading> {
  const input = objectOf(unflatten(attributes, 'agentlightning.operation.input'));
  const output = objectOf(unflatten(attributes, 'agentlightning.operation.output'));
  if (attributes.type === 'agent') return { kind: 'agent', agentName: firstText(input?.name) };
  const choices = objectsOf(output?.choices);
  if (choices.length === 0) return {};
  const tools = chatTools(input?.tools);
  const usage = objectOf(output?.usage);
  return {
    kind: 'model',
    model: firstText(output?.model, input?.model),
    responseId: firstText(output?.id),
    prompt: objectsOf(input?.messages).map((message) => chatMessage(message)),
    answers: choices.map((choice) => ({
      message: { ...chatMessage(objectOf(choice.message) ?? {}), role: 'assistant' },
      finishReason: finishReason(choice.finish_reason),
    })),
    inputTokens: numberOf(usage?.prompt_tokens),
    outputTokens: numberOf(usage?.completion_tokens),
    ...(tools.length > 0 ? { tools } : {}),
  };
}

function tokensOf(attributes: JsonObject): TokenReading | null {
  const output = 'agentlightning.operation.output';
  const promptIds = ids(attributes.prompt_token_ids ?? attributes[`${output}.prompt_token_ids`]);
  const answerIds = ids(
    attributes.response_token_ids ??
      attributes[`${output}.response_token_ids.0`] ??
      attributes[`${output}.choices.0.token_ids`] ??
      attributes[`${output}.choices.0.provider_specific_fields.token_ids`],
  );
  if (promptIds === null || answerIds === null) return null;
  const content = objectsOf(parsed(attributes['logprobs.content']));
  const logProbs = content.map(({ logprob }) => numberOf(logprob));
  // A log prob for each id or none at all: nothing is filled in.
  const complete = logProbs.length === answerIds.length && logProbs.every((value) => value !== null);
  return { promptIds, answerIds, logProbs: complete && logProbs.length > 0 ? (logProbs as number[]) : null };
}

function ids(value: Json | undefined): number[] | null {
  const list = listOf(parsed(value));
  return list.length > 0 && list.every((id) => Number.isSafeInteger(id)) ? (list as number[]) : null;
}
