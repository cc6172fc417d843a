import type { JsonObject } from '../../store/types.ts';
import type { ToolCall } from '../../upstreams/index.ts';
import type { Answer, AnswerChoice, AnswerPart } from '../answer.ts';
import type { Problem } from '../problem.ts';
import { argumentsValue } from './call-arguments.ts';
import type { AnswerHead } from './dialect.ts';

/** The JSON answer. */
export function geminiAnswer(head: AnswerHead, answer: Answer): JsonObject {
  return {
    candidates: answer.choices.map((choice) => candidateBody(head, choice)),
    usageMetadata: usageBody(answer),
    ...geminiHead(head),
  };
}

export function geminiHead(head: AnswerHead): JsonObject {
  return { modelVersion: head.model, responseId: head.id };
}

function candidateBody(head: AnswerHead, choice: AnswerChoice): JsonObject {
  const parts = choice.parts.map(partBody);
  const body: JsonObject = {
    content: { parts: parts.length > 0 ? parts : [{ text: '' }], role: 'model' },
    finishReason: finishReason(choice),
    index: choice.index,
  };
  const { tokenTexts, tokenIds, logProbs } = choice;
  if (head.turn.wantLogProbs && tokenTexts.length > 0) {
    body.logprobsResult = {
      chosenCandidates: tokenTexts.map((token, index) => ({
        token,
        tokenId: tokenIds[index] ?? null,
        logProbability: logProbs[index] ?? null,
      })),
    };
  }
  return body;
}

function partBody(part: AnswerPart): JsonObject {
  if (part.type === 'tool-call') return callPart(part.call);
  return part.type === 'text' ? { text: part.text } : { text: part.text, thought: true };
}

export function callPart({ id, name, arguments: text }: ToolCall): JsonObject {
  const args = argumentsValue(text);
  const isObject = typeof args === 'object' && args !== null && !Array.isArray(args);
  return { functionCall: { id, name, args: isObject ? args : {} } };
}

/** A call of a function is an ordinary end there. */
export function finishReason(choice: Pick<AnswerChoice, 'finishReason'>): string {
  return choice.finishReason === 'length' ? 'MAX_TOKENS' : 'STOP';
}

export function usageBody(answer: Answer): JsonObject {
  const { promptTokens, completionTokens } = answer.usage;
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: completionTokens,
    totalTokenCount: promptTokens + completionTokens,
  };
}

const statuses: { [status: number]: string } = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Google's error shape. */
export function geminiError({ status, code, message, field }: Problem): JsonObject {
  const details: JsonObject[] = [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code, domain: 'agentlightning' },
  ];
  if (field !== null) {
    const fieldViolations = [{ field, description: message }];
    details.push({ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations });
  }
  const name = statuses[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
  return { error: { code: status, message, status: name, details } };
}
