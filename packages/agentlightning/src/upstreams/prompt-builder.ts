import type { JsonObject } from '../store/types.ts';
import { ConversationMemory } from './conversation-memory.ts';
import { messageBody, toolBody } from './openai-form.ts';
import type { ChatTemplate, Tokenizer } from './text.ts';
import type { Message, RawPrompt, Turn } from './upstream.ts';

export interface PromptBuilderOptions {
  tokenizer: Tokenizer;
  template: ChatTemplate;
  /** The token that ends a turn in the template, for instance `<|im_end|>`. */
  endOfTurnId: number;
}

/** A prompt but for the ids of its new text. */
export interface PromptPlan {
  /** What has to be encoded: all of the prompt, or what is behind the part whose ids are known. */
  text: string;
  build(ids: ArrayLike<number>): BuiltPrompt;
}

export interface BuiltPrompt {
  ids: Int32Array;
  /** The prompt ends within a thinking block: the answer goes on in it. */
  opensThinking: boolean;
  /** Call with the finished answer, so that the next turn can go on from its ids. */
  remember(answer: Message, answerIds: Int32Array): void;
}

/**
 * Builds prompts the tokens way: what the model has read and written in an attempt keeps its exact ids, and only the text
 * that the template adds behind the last answer is encoded. So no earlier answer is ever tokenised again, whatever a
 * template or a client does to its text (vLLM's blog on retokenisation drift, 2025-10-22, has the ways it goes wrong).
 */
export class PromptBuilder {
  readonly #options: PromptBuilderOptions;
  readonly #endOfTurn: string;
  readonly #memory = new ConversationMemory();

  constructor(options: PromptBuilderOptions) {
    this.#options = options;
    this.#endOfTurn = options.tokenizer.decode([options.endOfTurnId]);
  }

  build(attemptId: string, turn: Turn): BuiltPrompt {
    const plan = this.plan(attemptId, turn);
    return plan.build(plan.text === '' ? [] : this.#options.tokenizer.encode(plan.text));
  }

  /** For a tokenizer that is asked over the network: encode the plan's text, then build. */
  plan(attemptId: string, turn: Turn): PromptPlan {
    const { template } = this.#options;
    if (turn.prompt !== undefined) return rawPlan(turn.prompt);
    const variables = templateVariables(turn);
    const context = contextKey(turn, variables);
    const text = template.render({
      messages: turn.messages.map(templateMessage),
      tools: turn.tools.map(toolBody),
      addGenerationPrompt: true,
      variables,
    });
    const { known, added } = this.#continuation(attemptId, context, turn.messages, text);
    const build = (addedIds: ArrayLike<number>): BuiltPrompt => {
      const ids = joined(known, addedIds);
      return {
        ids,
        opensThinking: /<think>\s*$/.test(text),
        remember: (answer, answerIds) => {
          this.#memory.remember(attemptId, {
            context,
            messages: turn.messages,
            answer,
            promptIds: ids,
            answerIds,
            endedTurns: count(text, this.#endOfTurn) + count(answer.content, this.#endOfTurn) + 1,
          });
        },
      };
    };
    return { text: added, build };
  }

  forget(attemptId: string): void {
    this.#memory.forget(attemptId);
  }

  /**
   * The turn's end is found by counting ends, not by comparing texts: a template may render earlier turns differently
   * once others follow (Qwen 3 strips thinking, Mistral moves the tools), but it keeps their number.
   */
  #continuation(
    attemptId: string,
    context: string,
    messages: Message[],
    text: string,
  ): { known: ArrayLike<number>[]; added: string } {
    const known = this.#memory.find(attemptId, context, messages);
    const answerEnd = known === null ? -1 : nthEnd(text, this.#endOfTurn, known.endedTurns);
    if (known === null || answerEnd < 0) return { known: [], added: text };
    const { promptIds, answerIds } = known;
    const { endOfTurnId } = this.#options;
    // An answer cut by its length or a stop text lacks the end of its turn.
    const end = answerIds.at(-1) === endOfTurnId ? [] : [endOfTurnId];
    return { known: [promptIds, answerIds, end], added: text.slice(answerEnd) };
  }
}

function joined(known: ArrayLike<number>[], added: ArrayLike<number>): Int32Array {
  const parts = [...known, added];
  const ids = new Int32Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    ids.set(part, at);
    at += part.length;
  }
  return ids;
}

function rawPlan(prompt: RawPrompt): PromptPlan {
  const rest = { opensThinking: false, remember() {} };
  if ('ids' in prompt) return { text: '', build: () => ({ ids: Int32Array.from(prompt.ids), ...rest }) };
  return { text: prompt.text, build: (ids) => ({ ids: Int32Array.from(ids), ...rest }) };
}

/** vLLM's and SGLang's name for a request's template variables. */
function templateVariables(turn: Turn): JsonObject {
  const variables = turn.extra.chat_template_kwargs;
  return typeof variables === 'object' && variables !== null && !Array.isArray(variables) ? variables : {};
}

/** OpenAI's newer name for the system's role: most templates leave out a message whose role they do not know. */
function templateMessage(message: Message): ReturnType<typeof messageBody> {
  return messageBody(message.role === 'developer' ? { ...message, role: 'system' } : message);
}

function contextKey(turn: Turn, variables: JsonObject): string {
  if (turn.tools.length === 0 && Object.keys(variables).length === 0) return '';
  return JSON.stringify([turn.tools, variables]);
}

function count(text: string, needle: string): number {
  let found = 0;
  for (let index = text.indexOf(needle); index >= 0; index = text.indexOf(needle, index + needle.length)) found += 1;
  return found;
}

/** Index behind the `nth` occurrence, or −1. */
function nthEnd(text: string, needle: string, nth: number): number {
  let end = 0;
  for (let found = 0; found < nth; found += 1) {
    const index = text.indexOf(needle, end);
    if (index < 0) return -1;
    end = index + needle.length;
  }
  return end;
}
