import type { JsonObject } from '../store/types.ts';
import type { Message, ToolDefinition } from './upstream.ts';

/** What the tokens way asks of a tokenizer. Nothing is added or removed: special tokens come from the template's text. */
export interface Tokenizer {
  /** Ids of `text`; spelled-out special tokens become their ids, and no start or end token is added. */
  encode(text: string): ArrayLike<number>;
  /** Text of ids, special tokens included: `decode(encode(text))` is `text`. */
  decode(ids: ArrayLike<number>): string;
  /** For answers: special tokens are left out. */
  createDecoder(): IncrementalDecoder;
}

/** Turns ids into text as they arrive and holds bytes back until their character is whole. */
export interface IncrementalDecoder {
  push(ids: ArrayLike<number>): string;
  /** What is still held, incomplete bytes as U+FFFD. */
  end(): string;
}

export interface TemplateRequest {
  messages: Message[];
  tools: ToolDefinition[];
  /** End with the start of the assistant's turn. */
  addGenerationPrompt: boolean;
  /** Further variables that a client set (`chat_template_kwargs`). */
  variables: JsonObject;
}

/** The model's own chat template. */
export interface ChatTemplate {
  render(request: TemplateRequest): string;
}
