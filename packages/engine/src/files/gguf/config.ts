import { type Family, families } from '../families/index.ts';
import type { JsonObject } from '../text-file.ts';
import type { GgufMetadata } from './metadata.ts';
import type { GgufReader } from './reader.ts';

/** @throws {EngineError} `model_unsupported`, naming the architecture and those that can be read */
export function ggufFamily(metadata: GgufMetadata): Family {
  const found = families.find(({ gguf }) => gguf === metadata.architecture);
  if (found !== undefined) return found;
  const known = [...new Set(families.map(({ gguf }) => gguf))].join(', ');
  throw metadata.unsupported(`its architecture is "${metadata.architecture}"`, known);
}

/**
 * What a file says of its model, as the config.json that transformers would have for it. Keys: `constants.py` of the package gguf.
 *
 * @throws {EngineError} `model_unsupported`, `gguf_invalid`
 */
export async function ggufConfig(reader: GgufReader, metadata: GgufMetadata): Promise<JsonObject> {
  const family = ggufFamily(metadata);
  const heads = metadata.model('attention.head_count');
  const hidden = metadata.model('embedding_length');
  const headSize = metadata.optionalModel('attention.key_length') ?? hidden / heads;
  const rotarySize = metadata.optionalModel('rope.dimension_count') ?? headSize;
  const window = metadata.optionalModel('attention.sliding_window');
  return {
    architectures: [family.architecture],
    model_type: family.modelType,
    vocab_size: reader.tensors.get('token_embd.weight')?.shape[0],
    hidden_size: hidden,
    num_hidden_layers: metadata.model('block_count'),
    num_attention_heads: heads,
    num_key_value_heads: metadata.optionalModel('attention.head_count_kv') ?? heads,
    head_dim: headSize,
    intermediate_size: metadata.model('feed_forward_length'),
    // A float32 of the file, such as 9.999999747378752e-06, is the number that was meant, rounded.
    rms_norm_eps: shortest(metadata.model('attention.layer_norm_rms_epsilon')),
    rope_theta: shortest(metadata.optionalModel('rope.freq_base') ?? family.defaults?.rope_theta ?? 10_000),
    rope_scaling: await ropeScaling(reader, metadata),
    ...(rotarySize !== headSize && { partial_rotary_factor: rotarySize / headSize }),
    max_position_embeddings: metadata.model('context_length'),
    tie_word_embeddings: !reader.tensors.has('output.weight'),
    ...(window !== undefined && window > 0 && { sliding_window: window }),
    ...gemmaFields(family, metadata, { hidden, heads, headSize }),
  };
}

async function ropeScaling(reader: GgufReader, metadata: GgufMetadata): Promise<JsonObject | null> {
  const factors = ['rope_freqs.weight', 'rope_factors_short.weight'].find((name) => reader.tensors.has(name));
  const original = metadata.optionalModel('rope.scaling.original_context_length');
  if (factors !== undefined) {
    return {
      rope_type: 'longrope',
      short_factor: [...(await reader.read(factors))],
      // Those of Llama 3 hold at every length; LongRoPE's short ones only up to the original.
      original_max_position_embeddings:
        factors === 'rope_freqs.weight'
          ? metadata.model('context_length')
          : (original ?? metadata.model('context_length')),
      attention_factor: shortest(metadata.optionalModel('rope.scaling.attn_factor') ?? 1),
    };
  }
  const type = metadata.text(`${metadata.architecture}.rope.scaling.type`) ?? 'none';
  if (type === 'none') return null;
  return {
    rope_type: type,
    factor: shortest(metadata.model('rope.scaling.factor')),
    ...(original !== undefined && { original_max_position_embeddings: original }),
  };
}

/** llama.cpp keeps some of these in its code, by the number of layers. */
function gemmaFields(
  family: Family,
  metadata: GgufMetadata,
  { hidden, heads, headSize }: { hidden: number; heads: number; headSize: number },
): JsonObject {
  if (family.activation === undefined) return {};
  const largest = { gemma2: 46, gemma3: 62 }[family.name];
  const is27B = metadata.model('block_count') === largest;
  return {
    hidden_activation: family.activation,
    query_pre_attn_scalar: is27B ? hidden / heads : headSize,
    attn_logit_softcapping: optional(metadata.optionalModel('attn_logit_softcapping')),
    final_logit_softcapping: optional(metadata.optionalModel('final_logit_softcapping')),
  };
}

function optional(value: number | undefined): number | null {
  return value === undefined ? null : shortest(value);
}

/** The decimal number of fewest digits that float32 rounds to this one. */
function shortest(value: number): number {
  for (let digits = 1; digits < 10; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return value;
}
