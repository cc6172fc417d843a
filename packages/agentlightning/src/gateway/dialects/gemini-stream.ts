import type { JsonObject } from '../../store/types.ts';
import type { TurnEvent } from '../../upstreams/index.ts';
import type { Answer } from '../answer.ts';
import type { Problem } from '../problem.ts';
import type { AnswerHead, DialectStream } from './dialect.ts';
import { callPart, finishReason, geminiAnswer, geminiError, geminiHead, usageBody } from './gemini-answer.ts';

/** Unnamed events, each a whole answer with the new parts in it; the last ones have the finish reasons and the usage. */
export class GeminiStream implements DialectStream {
  readonly #head: AnswerHead;
  readonly #tail: JsonObject;

  constructor(head: AnswerHead) {
    this.#head = head;
    this.#tail = geminiHead(head);
  }

  event(event: TurnEvent): string {
    if (event.type === 'text' && event.text !== '') return this.#part(event.choice, { text: event.text });
    if (event.type === 'reasoning') return this.#part(event.choice, { text: event.text, thought: true });
    return event.type === 'tool-call' ? this.#part(event.choice, callPart(event.call)) : '';
  }

  end(answer: Answer): string {
    const whole = geminiAnswer(this.#head, answer).candidates as JsonObject[];
    return answer.choices
      .map((choice) => {
        const { logprobsResult } = whole[choice.index] ?? {};
        const candidate: JsonObject = {
          content: { parts: [{ text: '' }], role: 'model' },
          finishReason: finishReason(choice),
          index: choice.index,
          ...(logprobsResult === undefined ? {} : { logprobsResult }),
        };
        return this.#write({ candidates: [candidate], usageMetadata: usageBody(answer) });
      })
      .join('');
  }

  error(problem: Problem): string {
    return `data: ${JSON.stringify(geminiError(problem))}\n\n`;
  }

  #part(index: number, part: JsonObject): string {
    return this.#write({ candidates: [{ content: { parts: [part], role: 'model' }, index }] });
  }

  #write(body: JsonObject): string {
    return `data: ${JSON.stringify({ ...body, ...this.#tail })}\n\n`;
  }
}
