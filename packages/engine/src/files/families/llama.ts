import type { Family } from './family.ts';

/** Llama 1 to 3, SmolLM2, TinyLlama (https://huggingface.co/docs/transformers/model_doc/llama). */
export const llama: Family = {
  name: 'llama',
  architecture: 'LlamaForCausalLM',
  modelType: 'llama',
  gguf: 'llama',
  ggufPairsRows: true,
  traits(fields) {
    fields.mustBe('hidden_act', 'silu');
    fields.mustBe('attention_bias', false);
    fields.mustBe('mlp_bias', false);
    fields.mustBe('rope_interleaved', false);
    return {};
  },
  write: () => ({ hidden_act: 'silu', attention_bias: false, mlp_bias: false }),
};
