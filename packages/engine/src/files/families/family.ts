import type { ModelConfig } from '../../model/index.ts';
import type { ConfigFields } from '../config-fields.ts';
import type { JsonObject } from '../text-file.ts';

/** One architecture: what its files call things, and which steps of the decoder it takes otherwise than Llama. */
export interface Family {
  /** As in `ModelConfig.family`. */
  readonly name: string;
  /** Of `architectures` in config.json. */
  readonly architecture: string;
  readonly modelType: string;
  /** `general.architecture` of a GGUF file. */
  readonly gguf: string;
  /**
   * The fields of the configuration beyond sizes and rotations.
   * @throws {EngineError} `model_unsupported`, `model_config_invalid`
   */
  traits(fields: ConfigFields, common: CommonConfig): Partial<ModelConfig>;
  /** Fields of config.json beyond sizes and rotations, the reverse of `traits`. */
  write(config: ModelConfig): JsonObject;
  /** Where transformers' defaults differ from Llama's. */
  readonly defaults?: Partial<Record<'head_dim' | 'max_position_embeddings' | 'rope_theta', number>>;
  /** Whether the head is the embedding when config.json does not say it. */
  readonly tiedByDefault?: boolean;
  /** `hidden_activation` of config.json, where it is not SiLU. */
  readonly activation?: string;
  /** Norm weights in safetensors are their factor minus 1. */
  readonly normsMinusOne?: boolean;
  /** Several of our matrices that are one tensor on disk, below each other: its module name → the projections. */
  readonly fused?: Readonly<Record<string, readonly string[]>>;
  /** llama.cpp orders the rows of queries and keys for neighbouring pairs (its convert_hf_to_gguf, LlamaModel.permute). */
  readonly ggufPairsRows?: boolean;
}

export type CommonConfig = Pick<ModelConfig, 'layers' | 'headSize' | 'hiddenSize' | 'ropeTheta'>;

/** `layer_types` of a config.json. */
export const layerTypes = (config: ModelConfig) =>
  Array.from({ length: config.layers }, (_, layer) =>
    config.slidingWindow?.layers[layer] === true ? 'sliding_attention' : 'full_attention',
  );

/** Which layers slide: `layer_types` where the file has it, otherwise as the family counts them. */
export function slidingLayers(fields: ConfigFields, layers: number, byDefault: (layer: number) => boolean): boolean[] {
  const types: unknown = fields.json.layer_types;
  if (!Array.isArray(types)) return Array.from({ length: layers }, (_, layer) => byDefault(layer));
  const unknownType = types.find((type) => type !== 'sliding_attention' && type !== 'full_attention') as unknown;
  if (unknownType !== undefined)
    throw fields.unsupported('layer_types', 'full_attention and sliding_attention', unknownType);
  return types.map((type) => type === 'sliding_attention');
}
