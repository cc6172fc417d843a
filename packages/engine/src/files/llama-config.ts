import { EngineError } from '../errors.ts';
import { assertModelConfig, type ModelConfig } from '../model/index.ts';
import { isJsonObject, type JsonObject } from './text-file.ts';

/**
 * Reads a Hugging Face `config.json` of the Llama family; defaults as of transformers' LlamaConfig
 * (https://huggingface.co/docs/transformers/model_doc/llama#transformers.LlamaConfig).
 *
 * @param path name for messages
 * @throws {EngineError} `model_unsupported` or `model_config_invalid`, naming file, field, value and what is supported
 */
export function readLlamaConfig(json: JsonObject, path: string): ModelConfig {
  assertSupported(json, path);
  const size = (field: string, fallback?: number) => sizeField(json, field, path, fallback);
  const hiddenSize = size('hidden_size');
  const heads = size('num_attention_heads');
  const config: ModelConfig = {
    vocabularySize: size('vocab_size'),
    hiddenSize,
    layers: size('num_hidden_layers'),
    heads,
    kvHeads: size('num_key_value_heads', heads),
    headSize: size('head_dim', hiddenSize / heads),
    intermediateSize: size('intermediate_size'),
    normEps: numberField(json, 'rms_norm_eps', path, 1e-6),
    ropeTheta: numberField(json, 'rope_theta', path, ropeParameters(json).rope_theta ?? 10_000),
    tiedEmbeddings: json.tie_word_embeddings === true,
    maxTokens: size('max_position_embeddings', 2048),
  };
  try {
    assertModelConfig(config);
  } catch (cause) {
    throw invalid(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
  return config;
}

/** The `config.json` that transformers, old and new, reads back as the same model. */
export function writeLlamaConfig(
  config: ModelConfig,
  dtype: 'float32' | 'bfloat16',
  eosIds: readonly number[],
): JsonObject {
  return {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    vocab_size: config.vocabularySize,
    hidden_size: config.hiddenSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headSize,
    intermediate_size: config.intermediateSize,
    hidden_act: 'silu',
    rms_norm_eps: config.normEps,
    rope_theta: config.ropeTheta,
    rope_scaling: null,
    tie_word_embeddings: config.tiedEmbeddings,
    max_position_embeddings: config.maxTokens,
    attention_bias: false,
    mlp_bias: false,
    bos_token_id: null,
    eos_token_id: eosField(eosIds),
    torch_dtype: dtype,
  };
}

/** One id, several, or null for none, as transformers writes `eos_token_id`. */
export function eosField(eosIds: readonly number[]): number | readonly number[] | null {
  return eosIds.length > 1 ? eosIds : (eosIds[0] ?? null);
}

interface Requirement {
  field: string;
  found: unknown;
  supported: string;
  holds: boolean;
}

function assertSupported(json: JsonObject, path: string): void {
  const architecture = Array.isArray(json.architectures) ? (json.architectures as unknown[])[0] : undefined;
  const rope = ropeParameters(json);
  const requirements: Requirement[] = [
    architecture === undefined
      ? { field: 'model_type', found: json.model_type, supported: '"llama"', holds: json.model_type === 'llama' }
      : {
          field: 'architectures',
          found: json.architectures,
          supported: '["LlamaForCausalLM"]',
          holds: architecture === 'LlamaForCausalLM',
        },
    must(json, 'hidden_act', 'silu'),
    must(json, 'attention_bias', false),
    must(json, 'mlp_bias', false),
    must(json, 'rope_interleaved', false),
    must(json, 'quantization_config', null),
    unscaled(json, 'rope_scaling'),
    unscaled(json, 'rope_parameters'),
    {
      field: 'partial_rotary_factor',
      found: rope.partial_rotary_factor ?? json.partial_rotary_factor,
      supported: '1',
      holds: (rope.partial_rotary_factor ?? json.partial_rotary_factor ?? 1) === 1,
    },
  ];
  const broken = requirements.find(({ holds }) => !holds);
  if (!broken) return;
  throw new EngineError({
    code: 'model_unsupported',
    message: `${path}: ${broken.field} is ${JSON.stringify(broken.found)}; supported is ${broken.supported}.`,
    hint: 'Choose a Llama-style model without these features (for instance SmolLM2 or TinyLlama).',
    category: 'user',
  });
}

/** A field that may be absent or null, or must have this one value. */
function must(json: JsonObject, field: string, value: string | boolean | null): Requirement {
  const found = json[field];
  return { field, found, supported: JSON.stringify(value), holds: (found ?? value) === value };
}

/** Absent, null, or of the type "default", which only repeats the base. */
function unscaled(json: JsonObject, field: 'rope_scaling' | 'rope_parameters'): Requirement {
  const rope = isJsonObject(json[field]) ? json[field] : {};
  const type = rope.rope_type ?? rope.type;
  return {
    field,
    found: rope,
    supported: 'no scaling (null, or rope_type "default")',
    holds: type === 'default' || (type === undefined && rope.factor === undefined),
  };
}

/** Newer files gather in `rope_parameters` what older ones have in `rope_scaling` and beside. */
function ropeParameters(json: JsonObject): JsonObject {
  const rope = json.rope_parameters ?? json.rope_scaling;
  return isJsonObject(rope) ? rope : {};
}

function sizeField(json: JsonObject, field: string, path: string, fallback?: number): number {
  const value = json[field] ?? fallback;
  if (value === undefined) throw invalid(path, `${field} is missing.`);
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    throw invalid(path, `${field} is ${JSON.stringify(value)}, but must be a whole number of at least 1.`);
  return value as number;
}

function numberField(json: JsonObject, field: string, path: string, fallback: unknown): number {
  const value = json[field] ?? fallback;
  if (typeof value !== 'number' || !(value > 0))
    throw invalid(path, `${field} is ${JSON.stringify(value)}, but must be a number above 0.`);
  return value;
}

function invalid(path: string, problem: string, cause?: unknown): EngineError {
  return new EngineError({
    code: 'model_config_invalid',
    message: `${path}: ${problem}`,
    hint: 'Correct the field in config.json, or copy or download the file again.',
    category: 'user',
    cause,
  });
}
