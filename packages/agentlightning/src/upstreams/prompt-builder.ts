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

export interface BuiltPrompt {
  ids: Int32Array;
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
    const { tokenizer, template } = this.#options;
    if (turn.prompt !== undefined) return { ids: rawIds(turn.prompt, tokenizer), remember() {} };
    const variables = templateVariables(turn);
    const context = contextKey(turn, variables);
    const text = template.render({
      messages: turn.messages.map(templateMessage),
      tools: turn.tools.map(toolBody),
      addGenerationPrompt: true,
      variables,
    });
    const ids = this.#continue(attemptId, context, turn.messages, text) ?? Int32Array.from(tokenizer.encode(text));
    return {
      ids,
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
  }

  forget(attemptId: string): void {
    this.#memory.forget(attemptId);
  }

  /**
   * The turn's end is found by counting ends, not by comparing texts: a template may render earlier turns differently
   * once others follow (Qwen 3 strips thinking, Mistral moves the tools), but it keeps their number.
   */
  #continue(attemptId: string, context: string, messages: Message[], text: string): Int32Array | null {
    const known = this.#memory.find(attemptId, context, messages);
    if (known === null) return null;
    const answerEnd = nthEnd(text, this.#endOfTurn, known.endedTurns);
    if (answerEnd < 0) return null;
    const { promptIds, answerIds } = known;
    const added = this.#options.tokenizer.encode(text.slice(answerEnd));
    // An answer cut by its length or a stop text lacks the end of its turn.
    const unended = answerIds.at(-1) === this.#options.endOfTurnId ? 0 : 1;
    const ids = new Int32Array(promptIds.length + answerIds.length + unended + added.length);
    ids.set(promptIds);
    ids.set(answerIds, promptIds.length);
    if (unended === 1) ids[promptIds.length + answerIds.length] = this.#options.endOfTurnId;
    ids.set(added, ids.length - added.length);
    return ids;
  }
}

function rawIds(prompt: RawPrompt, tokenizer: Tokenizer): Int32Array {
  return Int32Array.from('ids' in prompt ? prompt.ids : tokenizer.encode(prompt.text));
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
