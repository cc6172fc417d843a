import type { Family } from './family.ts';
import { upperWindow, writeUpperWindow } from './qwen2.ts';

/** Qwen 3, dense (https://huggingface.co/docs/transformers/model_doc/qwen3): norms on every query and key head, no biases. */
export const qwen3: Family = {
  name: 'qwen3',
  architecture: 'Qwen3ForCausalLM',
  modelType: 'qwen3',
  gguf: 'qwen3',
  defaults: { head_dim: 128, max_position_embeddings: 32_768 },
  traits(fields, { layers }) {
    fields.mustBe('hidden_act', 'silu');
    fields.mustBe('attention_bias', false);
    return { headNorms: true, ...upperWindow(fields, layers) };
  },
  write: (config) => ({ hidden_act: 'silu', attention_bias: false, ...writeUpperWindow(config) }),
};
