import type { JsonObject } from '../store/types.ts';

/** How the trained model reads and writes text: what rendering an answer takes. `ModelText` of upstreams is one. */
export interface ModelText {
  tokenizer: {
    encode(text: string): ArrayLike<number>;
    decode(ids: ArrayLike<number>): string;
  };
  template: {
    render(request: {
      messages: readonly object[];
      tools: readonly JsonObject[];
      addGenerationPrompt: boolean;
      variables: JsonObject;
    }): string;
  };
  /** The token that ends a turn in the template, for instance `<|im_end|>`. */
  endOfTurnId: number;
}
