import type { JsonObject } from '../../store/types.ts';
import type { Answer, AnswerChoice } from '../answer.ts';
import { usageBody } from './chat-answer.ts';
import type { AnswerHead } from './dialect.ts';

/** The JSON answer. `token_ids` and `prompt_token_ids`, named as vLLM names them, are given when asked for. */
export function completionsAnswer(head: AnswerHead, answer: Answer): JsonObject {
  return {
    ...completionHead(head),
    choices: answer.choices.map((choice) => choiceBody(head, answer, choice)),
    usage: usageBody(answer),
  };
}

export function completionHead(head: AnswerHead): JsonObject {
  return { id: `cmpl-${head.id}`, object: 'text_completion', created: head.created, model: head.model };
}

export function wantsIds(head: AnswerHead): boolean {
  return head.turn.extra.return_token_ids === true;
}

function choiceBody(head: AnswerHead, answer: Answer, choice: AnswerChoice): JsonObject {
  const { index, content: text, finishReason, tokenTexts, logProbs } = choice;
  const wanted = head.turn.wantLogProbs && tokenTexts.length > 0;
  const body: JsonObject = {
    index,
    text,
    logprobs: wanted ? logProbLists(tokenTexts, logProbs, 0) : null,
    finish_reason: finishReason,
  };
  if (wantsIds(head)) {
    body.token_ids = [...choice.tokenIds];
    if (answer.promptIds !== null) body.prompt_token_ids = Array.from(answer.promptIds);
  }
  return body;
}

/** @param offset of the first token, in characters of all tokens' texts */
export function logProbLists(texts: string[], logProbs: number[], offset: number): JsonObject {
  const offsets: number[] = [];
  let next = offset;
  for (const text of texts) {
    offsets.push(next);
    next += text.length;
  }
  const numbers = texts.map((_, index) => logProbs[index] ?? null);
  return { tokens: [...texts], token_logprobs: numbers, top_logprobs: null, text_offset: offsets };
}
