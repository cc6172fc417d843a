import type { ToolCall, TurnEvent } from '../../upstreams/index.ts';
import type { Answer } from '../answer.ts';
import type { Problem } from '../problem.ts';
import { chatError, logProbEntry, toolCallBody, usageBody } from './chat-answer.ts';
import type { AnswerHead, DialectStream } from './dialect.ts';

/** Tokens whose text has not been sent yet: they go out with the next text of their choice. */
interface PendingTokens {
  ids: number[];
  logProbs: string[];
}

/**
 * `chat.completion.chunk` events. What does not change between chunks is written once; a chunk costs one
 * `JSON.stringify` of its text.
 */
export class ChatStream implements DialectStream {
  readonly #head: AnswerHead;
  readonly #prefix: string;
  readonly #suffix: string;
  readonly #wantIds: boolean;
  readonly #pending: PendingTokens[];
  #promptIds: Int32Array | null = null;
  #begun = false;

  constructor(head: AnswerHead) {
    this.#head = head;
    this.#prefix = `data: {"id":${JSON.stringify(`chatcmpl-${head.id}`)},"object":"chat.completion.chunk","created":${head.created},"model":${JSON.stringify(head.model)},`;
    this.#suffix = head.turn.includeUsage ? ',"usage":null}\n\n' : '}\n\n';
    this.#wantIds = head.turn.extra.return_token_ids === true;
    this.#pending = Array.from({ length: head.turn.n }, () => ({ ids: [], logProbs: [] }));
  }

  event(event: TurnEvent): string {
    switch (event.type) {
      case 'prompt':
        this.#promptIds = event.ids;
        return '';
      case 'tokens':
        this.#keepTokens(event);
        return '';
      case 'text':
        return this.#begin() + this.#chunk(event.choice, `{"content":${JSON.stringify(event.text)}}`, null);
      case 'reasoning':
        return this.#begin() + this.#chunk(event.choice, `{"reasoning_content":${JSON.stringify(event.text)}}`, null);
      case 'tool-call-start':
        this.#open.add(event.choice);
        return this.#begin() + this.#toolCall(event.choice, { ...event, arguments: '' });
      case 'tool-call-arguments':
        return this.#callPiece(event);
      case 'tool-call':
        if (this.#open.delete(event.choice)) return '';
        return this.#begin() + this.#toolCall(event.choice, event.call);
      case 'untrainable':
      case 'finish':
      case 'usage':
        return '';
    }
  }

  end(answer: Answer): string {
    let text = this.#begin();
    for (const choice of answer.choices) text += this.#chunk(choice.index, '{}', choice.finishReason);
    if (this.#head.turn.includeUsage)
      text += `${this.#prefix}"choices":[],"usage":${JSON.stringify(usageBody(answer))}}\n\n`;
    return `${text}data: [DONE]\n\n`;
  }

  error(problem: Problem): string {
    return `data: ${JSON.stringify(chatError(problem))}\n\n`;
  }

  /** The role of each choice, once, before anything else. */
  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    const promptIds =
      this.#wantIds && this.#promptIds !== null ? `,"prompt_token_ids":[${this.#promptIds.join(',')}]` : '';
    let text = '';
    for (let choice = 0; choice < this.#head.turn.n; choice += 1) {
      const body = `{"index":${choice},"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`;
      text += `${this.#prefix}"choices":[${body}]${promptIds}${this.#suffix}`;
    }
    return text;
  }

  #chunk(choice: number, delta: string, finishReason: string | null): string {
    const { logProbs, ids } = this.#take(choice);
    const finish = finishReason === null ? 'null' : `"${finishReason}"`;
    return `${this.#prefix}"choices":[{"index":${choice},"delta":${delta},"logprobs":${logProbs},"finish_reason":${finish}${ids}}]${this.#suffix}`;
  }

  #toolCall(choice: number, call: ToolCall): string {
    const delta = JSON.stringify({ tool_calls: [{ index: this.#callIndex(choice), ...toolCallBody(call) }] });
    return this.#chunk(choice, delta, null);
  }

  #callPiece({ choice, text }: Extract<TurnEvent, { type: 'tool-call-arguments' }>): string {
    const index = (this.#calls.get(choice) ?? 1) - 1;
    return this.#chunk(choice, JSON.stringify({ tool_calls: [{ index, function: { arguments: text } }] }), null);
  }

  /** Choices with a call whose arguments come piece by piece. */
  readonly #open = new Set<number>();
  readonly #calls = new Map<number, number>();

  #callIndex(choice: number): number {
    const index = this.#calls.get(choice) ?? 0;
    this.#calls.set(choice, index + 1);
    return index;
  }

  #keepTokens(event: Extract<TurnEvent, { type: 'tokens' }>): void {
    const pending = this.#pending[event.choice];
    if (pending === undefined) return;
    if (this.#wantIds) for (const id of event.ids) pending.ids.push(id);
    for (const [index, text] of (event.texts ?? []).entries()) {
      pending.logProbs.push(JSON.stringify(logProbEntry(text, event.logProbs[index])));
    }
  }

  #take(choice: number): { logProbs: string; ids: string } {
    const pending = this.#pending[choice]!;
    const { turn } = this.#head;
    const logProbs =
      turn.wantLogProbs && pending.logProbs.length > 0
        ? `{"content":[${pending.logProbs.join(',')}],"refusal":null}`
        : 'null';
    const ids = this.#wantIds ? `,"token_ids":[${pending.ids.join(',')}]` : '';
    pending.ids = [];
    pending.logProbs = [];
    return { logProbs, ids };
  }
}
