import type { Family } from '../families/index.ts';

/** llama.cpp's names of what stands once (`tensor_mapping.py` of the package gguf). */
const once: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'lm_head.weight': 'output.weight',
};

const inLayer: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.qkv_proj': 'attn_qkv',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.gate_up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

/** The norms behind attention differ in meaning between families, see model/decoder.ts. */
const plainNorms: Readonly<Record<string, string>> = { post_attention_layernorm: 'ffn_norm' };
const outputNorms: Readonly<Record<string, string>> = {
  post_attention_layernorm: 'post_attention_norm',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
};

/** llama.cpp's name of a tensor in Hugging Face's form. */
export function ggufName(name: string, family: Family): string {
  const known = once[name];
  if (known !== undefined) return known;
  const [, layer, module, kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  const norms = family.normsMinusOne === true ? outputNorms : plainNorms;
  return `blk.${layer}.${inLayer[module!] ?? norms[module!]}.${kind}`;
}

/** Which rows llama.cpp has in another order: those of queries and keys, so that a rotated pair is neighbours. */
export function pairsRows(name: string, family: Family): 'q' | 'k' | undefined {
  if (family.ggufPairsRows !== true) return undefined;
  return /\.self_attn\.([qk])_proj\.(weight|bias)$/.exec(name)?.[1] as 'q' | 'k' | undefined;
}

/**
 * Exchanges the two orders of the rows of a head: halves below each other (ours), or their rows in turn (llama.cpp's).
 *
 * @param to the order of the result
 */
export function reorderRows(
  values: Float32Array,
  heads: number,
  columns: number,
  to: 'halves' | 'pairs',
): Float32Array {
  const result = new Float32Array(values.length);
  const size = values.length / columns / heads;
  for (let head = 0; head < heads; head++) {
    for (let i = 0; i < size / 2; i++) {
      for (let j = 0; j < 2; j++) {
        const half = (head * size + j * (size / 2) + i) * columns;
        const pair = (head * size + 2 * i + j) * columns;
        const [from, at] = to === 'halves' ? [pair, half] : [half, pair];
        result.set(values.subarray(from, from + columns), at);
      }
    }
  }
  return result;
}
