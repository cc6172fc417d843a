import { type Family, slidingLayers } from './family.ts';

/** Mistral 7B and Ministral (https://huggingface.co/docs/transformers/model_doc/mistral): a Llama, in its first version with a window. */
export const mistral: Family = {
  name: 'mistral',
  architecture: 'MistralForCausalLM',
  modelType: 'mistral',
  gguf: 'llama', // llama.cpp knows it as a Llama
  ggufPairsRows: true,
  defaults: { max_position_embeddings: 131_072 },
  traits(fields, { layers }) {
    fields.mustBe('hidden_act', 'silu');
    const tokens = fields.optionalNumber('sliding_window');
    return tokens === undefined ? {} : { slidingWindow: { tokens, layers: slidingLayers(fields, layers, () => true) } };
  },
  write: ({ slidingWindow }) => ({ hidden_act: 'silu', sliding_window: slidingWindow?.tokens ?? null }),
};
