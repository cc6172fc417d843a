import type { ModelConfig } from '../../model/index.ts';
import type { ConfigFields } from '../config-fields.ts';
import type { JsonObject } from '../text-file.ts';
import { type Family, layerTypes, slidingLayers } from './family.ts';

/** Qwen 2 and 2.5 (https://huggingface.co/docs/transformers/model_doc/qwen2): biases on queries, keys and values. */
export const qwen2: Family = {
  name: 'qwen2',
  architecture: 'Qwen2ForCausalLM',
  modelType: 'qwen2',
  gguf: 'qwen2',
  defaults: { max_position_embeddings: 32_768 },
  traits(fields, { layers }) {
    fields.mustBe('hidden_act', 'silu');
    return { projectionBiases: true, ...upperWindow(fields, layers) };
  },
  write: (config) => ({ hidden_act: 'silu', ...writeUpperWindow(config) }),
};

/** Where it is switched on, layers from `max_window_layers` upwards slide. */
export function upperWindow(fields: ConfigFields, layers: number): Partial<ModelConfig> {
  const tokens = fields.json.use_sliding_window === true ? fields.optionalNumber('sliding_window') : undefined;
  if (tokens === undefined) return {};
  const first = Number(fields.json.max_window_layers ?? 28);
  return { slidingWindow: { tokens, layers: slidingLayers(fields, layers, (layer) => layer >= first) } };
}

export function writeUpperWindow(config: ModelConfig): JsonObject {
  const { slidingWindow } = config;
  return {
    use_sliding_window: slidingWindow !== undefined,
    sliding_window: slidingWindow?.tokens ?? null,
    layer_types: layerTypes(config),
  };
}
