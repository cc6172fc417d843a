import type { ModelConfig } from '../../model/index.ts';
import { isJsonObject, type JsonObject } from '../text-file.ts';
import { type Family, layerTypes, slidingLayers } from './family.ts';

const activation = 'gelu_pytorch_tanh';

/** Gemma 2 (https://huggingface.co/docs/transformers/model_doc/gemma2): every other layer slides, scores and logits are capped. */
export const gemma2: Family = {
  name: 'gemma2',
  architecture: 'Gemma2ForCausalLM',
  modelType: 'gemma2',
  gguf: 'gemma2',
  defaults: { head_dim: 256, max_position_embeddings: 8192 },
  tiedByDefault: true,
  activation,
  normsMinusOne: true,
  traits(fields, { layers, hiddenSize }) {
    fields.mustBe('hidden_activation', activation);
    fields.mustBe('attention_bias', false);
    const tokens = fields.size('sliding_window', 4096);
    return {
      ...shared(hiddenSize, fields.number('query_pre_attn_scalar', 256)),
      ...caps(fields.optionalNumber('attn_logit_softcapping'), fields.optionalNumber('final_logit_softcapping')),
      slidingWindow: { tokens, layers: slidingLayers(fields, layers, (layer) => (layer + 1) % 2 > 0) },
    };
  },
  write,
};

/** Gemma 3, text (https://huggingface.co/docs/transformers/model_doc/gemma3): head norms; five of six layers slide, on a base of their own. */
export const gemma3: Family = {
  name: 'gemma3',
  architecture: 'Gemma3ForCausalLM',
  modelType: 'gemma3_text',
  gguf: 'gemma3',
  defaults: { head_dim: 256, max_position_embeddings: 131_072, rope_theta: 1_000_000 },
  tiedByDefault: true,
  activation,
  normsMinusOne: true,
  traits(fields, { layers, hiddenSize }) {
    fields.mustBe('hidden_activation', activation);
    fields.mustBe('attention_bias', false);
    fields.mustBe('use_bidirectional_attention', false);
    const every = fields.size(
      'sliding_window_pattern',
      fields.json._sliding_window_pattern === undefined ? 6 : fields.size('_sliding_window_pattern'),
    );
    const local = fields.object('rope_parameters').sliding_attention;
    const ropeTheta = fields.number(
      'rope_local_base_freq',
      (isJsonObject(local) ? local.rope_theta : undefined) ?? 10_000,
    );
    return {
      ...shared(hiddenSize, fields.number('query_pre_attn_scalar', 256)),
      ...caps(fields.optionalNumber('attn_logit_softcapping'), fields.optionalNumber('final_logit_softcapping')),
      headNorms: true,
      slidingWindow: {
        tokens: fields.size('sliding_window', 4096),
        layers: slidingLayers(fields, layers, (layer) => (layer + 1) % every > 0),
        ropeTheta,
      },
    };
  },
  write,
};

function shared(hiddenSize: number, queryScalar: number): Partial<ModelConfig> {
  return {
    activation: 'gelu_tanh',
    outputNorms: true,
    embeddingScale: Math.fround(Math.sqrt(hiddenSize)),
    attentionScale: queryScalar ** -0.5,
  };
}

function caps(attention: number | undefined, logits: number | undefined): Partial<ModelConfig> {
  return {
    ...(attention !== undefined && { attentionSoftCap: attention }),
    ...(logits !== undefined && { logitSoftCap: logits }),
  };
}

function write(config: ModelConfig): JsonObject {
  const { slidingWindow, attentionScale = 1 } = config;
  return {
    hidden_activation: activation,
    attention_bias: false,
    query_pre_attn_scalar: Math.round(attentionScale ** -2),
    attn_logit_softcapping: config.attentionSoftCap ?? null,
    final_logit_softcapping: config.logitSoftCap ?? null,
    sliding_window: slidingWindow?.tokens ?? null,
    layer_types: layerTypes(config),
    ...(slidingWindow?.ropeTheta !== undefined && { rope_local_base_freq: slidingWindow.ropeTheta }),
  };
}
