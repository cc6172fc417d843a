/** The language model as shapes, names and graph nodes. Must not know where weights are stored, how they learn, or text. */
export { causalAttention, maskedScore } from './attention.ts';
export {
  assertModelConfig,
  attentionScale,
  type LayerKind,
  layerKind,
  type ModelConfig,
  type RopeScaling,
} from './config.ts';
export { type DecoderParts, emitDecoder, emitLayer } from './decoder.ts';
export {
  adapterNames,
  initLora,
  type LoraConfig,
  loraScale,
  loraShapes,
  mergeLora,
} from './lora.ts';
export {
  biasName,
  embeddingName,
  finalNormName,
  headName,
  initParameters,
  type Parameters,
  type Projection,
  parameterShapes,
  projections,
  sizeOf,
} from './parameters.ts';
export { rotaryConstants } from './rope.ts';
export { initValueHead, valueBiasName, valueHeadShapes, valueWeightName } from './value-head.ts';
