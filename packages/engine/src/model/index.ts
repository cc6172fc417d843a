/** The language model as shapes, names and graph nodes. Must not know where weights are stored, how they learn, or text. */
export { causalAttention, maskedScore } from './attention.ts';
export { assertModelConfig, type ModelConfig } from './config.ts';
export { type DecoderParts, emitDecoder } from './llama.ts';
export {
  adapterNames,
  initLora,
  type LoraConfig,
  loraScale,
  loraShapes,
  mergeLora,
} from './lora.ts';
export {
  embeddingName,
  headName,
  initParameters,
  type Parameters,
  type Projection,
  parameterShapes,
  projections,
  sizeOf,
} from './parameters.ts';
export { rotaryConstants } from './rope.ts';
