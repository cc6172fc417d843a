import type { JsonObject } from '../store/types.ts';

/** What the tokens way asks of a tokenizer. `Tokenizer` of @agentlightning/engine is one. */
export interface Tokenizer {
  /** Spelled-out special tokens become their ids; no start or end token is added, because the template writes its own. */
  encode(text: string): ArrayLike<number>;
  decode(ids: ArrayLike<number>): string;
}

/** Turns ids into text as they arrive and holds bytes back until their character is whole. */
export interface AnswerDecoder {
  push(...ids: number[]): string;
  /** What is still held, incomplete bytes as U+FFFD. */
  finish(): string;
}

export interface TemplateRequest {
  /** In OpenAI's form. */
  messages: (JsonObject & { role: string })[];
  /** In OpenAI's form. */
  tools: JsonObject[];
  /** End with the start of the assistant's turn. */
  addGenerationPrompt: boolean;
  /** Further variables that a client set (`chat_template_kwargs`). */
  variables: JsonObject;
}

/** The model's own chat template. `ChatTemplate` of @agentlightning/engine is one. */
export interface ChatTemplate {
  render(request: TemplateRequest): string;
}
