import type { JsonObject } from '../../store/types.ts';
import type { TurnEvent } from '../../upstreams/index.ts';
import type { Answer } from '../answer.ts';
import type { Problem } from '../problem.ts';
import { chatError, usageBody } from './chat-answer.ts';
import { completionHead, logProbLists, wantsIds } from './completions-answer.ts';
import type { AnswerHead, DialectStream } from './dialect.ts';

/** Tokens whose text has not been sent yet: they go out with the next text of their choice. */
interface PendingTokens {
  ids: number[];
  texts: string[];
  logProbs: number[];
  /** Characters of the tokens sent before. */
  offset: number;
  begun: boolean;
}

/** `text_completion` events, ended by `[DONE]`. */
export class CompletionsStream implements DialectStream {
  readonly #head: AnswerHead;
  readonly #pending: PendingTokens[];
  #promptIds: Int32Array | null = null;

  constructor(head: AnswerHead) {
    this.#head = head;
    this.#pending = Array.from({ length: head.turn.n }, () => ({
      ...{ ids: [], texts: [], logProbs: [], offset: 0, begun: false },
    }));
  }

  event(event: TurnEvent): string {
    if (event.type === 'prompt') this.#promptIds = event.ids;
    if (event.type === 'tokens') this.#keep(event);
    return event.type === 'text' ? this.#chunk(event.choice, event.text, null) : '';
  }

  end(answer: Answer): string {
    let text = '';
    for (const { index, finishReason } of answer.choices) text += this.#chunk(index, '', finishReason);
    if (this.#head.turn.includeUsage) text += this.#write({ choices: [], usage: usageBody(answer) });
    return `${text}data: [DONE]\n\n`;
  }

  error(problem: Problem): string {
    return `data: ${JSON.stringify(chatError(problem))}\n\n`;
  }

  #keep({ choice, ids, texts, logProbs }: Extract<TurnEvent, { type: 'tokens' }>): void {
    const pending = this.#pending[choice];
    if (pending === undefined) return;
    for (const id of ids) pending.ids.push(id);
    if (texts === undefined) return;
    for (const text of texts) pending.texts.push(text);
    for (const logProb of logProbs) pending.logProbs.push(logProb);
  }

  #chunk(index: number, text: string, finishReason: string | null): string {
    const pending = this.#pending[index];
    if (pending === undefined) return '';
    const { ids, texts, logProbs, offset, begun } = pending;
    const logprobs = texts.length > 0 ? logProbLists(texts, logProbs, offset) : null;
    const choice: JsonObject = { index, text, logprobs, finish_reason: finishReason };
    if (wantsIds(this.#head)) {
      choice.token_ids = ids;
      if (!begun && this.#promptIds !== null) choice.prompt_token_ids = Array.from(this.#promptIds);
    }
    const sent = texts.reduce((sum, token) => sum + token.length, 0);
    this.#pending[index] = { ids: [], texts: [], logProbs: [], offset: offset + sent, begun: true };
    return this.#write({ choices: [choice], ...(this.#head.turn.includeUsage ? { usage: null } : {}) });
  }

  #write(body: JsonObject): string {
    return `data: ${JSON.stringify({ ...completionHead(this.#head), ...body })}\n\n`;
  }
}
