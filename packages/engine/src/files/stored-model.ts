import type { ModelConfig, Parameters } from '../model/index.ts';

/** A model as it is in a folder as Hugging Face writes it. */
export interface StoredModel {
  config: ModelConfig;
  /** In memory's layout: matrices [in, out]; embedding and head [vocabulary, hidden]. */
  parameters: Parameters;
  /** tokenizer.json, tokenizer_config.json, chat_template.jinja and the like, by name. */
  tokenizerFiles: ReadonlyMap<string, Uint8Array>;
  /** Ids that end an answer: of generation_config.json, else config.json, and of the tokenizer. */
  eosIds: readonly number[];
}
