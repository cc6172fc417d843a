import { type Family, slidingLayers } from './family.ts';

/** Phi-3 and Phi-4-mini (https://huggingface.co/docs/transformers/model_doc/phi3): fused matrices, some with a part of the head rotated. */
export const phi3: Family = {
  name: 'phi3',
  architecture: 'Phi3ForCausalLM',
  modelType: 'phi3',
  gguf: 'phi3',
  defaults: { max_position_embeddings: 4096 },
  fused: {
    'self_attn.qkv_proj': ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
    'mlp.gate_up_proj': ['mlp.gate_proj', 'mlp.up_proj'],
  },
  traits(fields, { layers }) {
    fields.mustBe('hidden_act', 'silu');
    fields.mustBe('attention_bias', false);
    const tokens = fields.optionalNumber('sliding_window');
    return tokens === undefined ? {} : { slidingWindow: { tokens, layers: slidingLayers(fields, layers, () => true) } };
  },
  write: ({ slidingWindow, rotarySize, headSize }) => ({
    hidden_act: 'silu',
    attention_bias: false,
    sliding_window: slidingWindow?.tokens ?? null,
    partial_rotary_factor: (rotarySize ?? headSize) / headSize,
    pad_token_id: null, // transformers' default lies beyond small vocabularies
  }),
};
