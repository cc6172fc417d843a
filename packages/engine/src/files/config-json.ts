import { assertModelConfig, type ModelConfig } from '../model/index.ts';
import { ConfigFields } from './config-fields.ts';
import { type Family, families, familyOf } from './families/index.ts';
import { readRope, writeRopeScaling } from './rope-json.ts';
import { isJsonObject, type JsonObject } from './text-file.ts';

/**
 * Reads a Hugging Face `config.json` of any family in files/families; defaults as of transformers.
 *
 * @param path name for messages
 * @throws {EngineError} `model_unsupported` or `model_config_invalid`, naming file, field, value and what is supported
 */
export function readConfig(json: JsonObject, path: string): ModelConfig {
  const fields = new ConfigFields(json, path);
  const family = readFamily(fields);
  fields.mustBe('quantization_config', null);
  const hiddenSize = fields.size('hidden_size');
  const heads = fields.size('num_attention_heads');
  const headSize = fields.size('head_dim', family.defaults?.head_dim ?? hiddenSize / heads);
  const maxTokens = fields.size('max_position_embeddings', family.defaults?.max_position_embeddings ?? 2048);
  const full = fields.object('rope_parameters').full_attention;
  const rope = readRope(
    fields,
    { headSize, maxTokens, defaultTheta: family.defaults?.rope_theta ?? 10_000 },
    isJsonObject(full) ? full : undefined,
  );
  const layers = fields.size('num_hidden_layers');
  const config: ModelConfig = {
    ...(family.name !== 'llama' && { family: family.name }),
    vocabularySize: fields.size('vocab_size'),
    hiddenSize,
    layers,
    heads,
    kvHeads: fields.size('num_key_value_heads', heads),
    headSize,
    intermediateSize: fields.size('intermediate_size'),
    normEps: fields.number('rms_norm_eps', 1e-6),
    ropeTheta: rope.theta,
    ...(rope.scaling !== undefined && { ropeScaling: rope.scaling }),
    ...(rope.rotarySize !== undefined && { rotarySize: rope.rotarySize }),
    ...family.traits(fields, { layers, headSize, hiddenSize, ropeTheta: rope.theta }),
    tiedEmbeddings: (json.tie_word_embeddings ?? family.tiedByDefault ?? false) === true,
    maxTokens: Math.min(maxTokens, rope.maxTokens ?? maxTokens),
  };
  try {
    assertModelConfig(config);
  } catch (cause) {
    throw fields.invalid(cause instanceof Error ? cause.message : String(cause), cause);
  }
  return config;
}

function readFamily(fields: ConfigFields): Family {
  const { architectures, model_type: modelType } = fields.json;
  const architecture = Array.isArray(architectures) ? (architectures as unknown[])[0] : undefined;
  const found = families.find((family) =>
    architecture === undefined ? family.modelType === modelType : family.architecture === architecture,
  );
  if (found !== undefined) return found;
  const names = families.map((family) => (architecture === undefined ? family.modelType : family.architecture));
  throw fields.unsupported(architecture === undefined ? 'model_type' : 'architectures', names.join(', '));
}

/** The `config.json` that transformers, old and new, reads back as the same model. */
export function writeConfig(config: ModelConfig, dtype: 'float32' | 'bfloat16', eosIds: readonly number[]): JsonObject {
  const family = familyOf(config);
  return {
    architectures: [family.architecture],
    model_type: family.modelType,
    vocab_size: config.vocabularySize,
    hidden_size: config.hiddenSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headSize,
    intermediate_size: config.intermediateSize,
    rms_norm_eps: config.normEps,
    rope_theta: config.ropeTheta,
    rope_scaling: writeRopeScaling(config.ropeScaling, config.maxTokens),
    tie_word_embeddings: config.tiedEmbeddings,
    max_position_embeddings: config.maxTokens,
    ...family.write(config),
    bos_token_id: null,
    eos_token_id: eosField(eosIds),
    torch_dtype: dtype,
  };
}

/** One id, several, or null for none, as transformers writes `eos_token_id`. */
export function eosField(eosIds: readonly number[]): number | readonly number[] | null {
  return eosIds.length > 1 ? eosIds : (eosIds[0] ?? null);
}
