import type { UntrainableReason } from '../store/types.ts';
import type { ToolCall, TurnEvent } from '../upstreams/index.ts';

export type AnswerPart =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool-call'; call: ToolCall };

export interface AnswerChoice {
  index: number;
  /** Text without thinking and tool calls. */
  content: string;
  /** What the model thought, for protocols that tell it apart. */
  reasoning: string;
  toolCalls: ToolCall[];
  /** Text and calls in the order they were told, for protocols that keep it. */
  parts: AnswerPart[];
  tokenIds: number[];
  logProbs: number[];
  /** Text of each token, when log probs were asked for. */
  tokenTexts: string[];
  policyVersions: { from: number; version: number }[];
  /** Null until the choice is finished. */
  finishReason: 'stop' | 'length' | 'tool_calls' | null;
  /** Why the upstream itself would not rely on the tokens it told. */
  untrainable: UntrainableReason | null;
  /** Text with its tool calls still in it; of an unfinished choice what was told so far. */
  rawText: string;
}

/** An answer as far as it has come: the events of an upstream, put together. */
export class Answer {
  promptIds: Int32Array | null = null;
  /** The bound in force, when the upstream told one. */
  maxTokens: number | null = null;
  readonly choices: AnswerChoice[];
  #usage: { promptTokens: number; completionTokens: number } | null = null;

  constructor(n: number) {
    this.choices = Array.from({ length: n }, (_, index) => ({
      index,
      content: '',
      reasoning: '',
      toolCalls: [],
      parts: [],
      tokenIds: [],
      logProbs: [],
      tokenTexts: [],
      policyVersions: [],
      finishReason: null,
      untrainable: null,
      rawText: '',
    }));
  }

  apply(event: TurnEvent): void {
    if (event.type === 'prompt') {
      this.promptIds = event.ids;
      this.maxTokens = event.maxTokens ?? null;
    } else if (event.type === 'usage') {
      this.#usage = event;
    } else {
      const choice = this.choices[event.choice];
      if (choice !== undefined) applyToChoice(choice, event);
    }
  }

  get complete(): boolean {
    return this.choices.every((choice) => choice.finishReason !== null);
  }

  /** True once an upstream has told anything of the answer itself. */
  get begun(): boolean {
    return this.choices.some((choice) => choice.rawText !== '' || choice.tokenIds.length > 0);
  }

  get usage(): { promptTokens: number; completionTokens: number } {
    if (this.#usage !== null) return this.#usage;
    const completionTokens = this.choices.reduce((sum, choice) => sum + choice.tokenIds.length, 0);
    return { promptTokens: this.promptIds?.length ?? 0, completionTokens };
  }
}

/** The events that lead to a finished answer, for a stream that gives it once more. */
export function* eventsOf(answer: Answer): Generator<TurnEvent> {
  yield {
    type: 'prompt',
    ids: answer.promptIds,
    ...(answer.maxTokens === null ? {} : { maxTokens: answer.maxTokens }),
  };
  for (const { index: choice, tokenIds, logProbs, tokenTexts, parts } of answer.choices) {
    yield { type: 'tokens', choice, ids: tokenIds, logProbs, policyVersion: null, texts: tokenTexts };
    for (const part of parts) yield { ...part, choice };
  }
}

function applyToChoice(choice: AnswerChoice, event: Exclude<TurnEvent, { type: 'prompt' | 'usage' }>): void {
  switch (event.type) {
    case 'tokens':
      if (event.policyVersion !== null && choice.policyVersions.at(-1)?.version !== event.policyVersion) {
        choice.policyVersions.push({ from: choice.tokenIds.length, version: event.policyVersion });
      }
      for (const id of event.ids) choice.tokenIds.push(id);
      for (const logProb of event.logProbs) choice.logProbs.push(logProb);
      for (const text of event.texts ?? []) choice.tokenTexts.push(text);
      return;
    case 'text':
      choice.content += event.text;
      choice.rawText += event.text;
      addText(choice.parts, 'text', event.text);
      return;
    case 'reasoning':
      choice.reasoning += event.text;
      choice.rawText += event.text;
      addText(choice.parts, 'reasoning', event.text);
      return;
    case 'untrainable':
      choice.untrainable = event.reason;
      return;
    case 'tool-call-start':
    case 'tool-call-arguments':
      return;
    case 'tool-call':
      choice.toolCalls.push(event.call);
      choice.parts.push({ type: 'tool-call', call: event.call });
      return;
    case 'finish':
      choice.finishReason = event.reason;
      choice.rawText = event.rawText;
  }
}

function addText(parts: AnswerPart[], type: 'text' | 'reasoning', text: string): void {
  const last = parts.at(-1);
  if (last?.type === type) last.text += text;
  else if (text !== '') parts.push({ type, text });
}
