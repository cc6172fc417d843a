/** The embedded trainable language model. Knows token ids, weights and text; knows nothing of rollouts, stores or servers. */
export type {
  Engine,
  EngineInfo,
  ForwardBackwardResult,
  LossSpec,
  OptimStep,
  SampledTokens,
  SampleRequest,
  SampleResult,
  TrainRow,
  ValueResult,
} from './contract.ts';
export { EngineError } from './errors.ts';
export {
  type ExportForm,
  exportForms,
  isHubReference,
  loadModelFolder,
  modelFolder,
  type StoredModel,
  saveModelFolder,
} from './files/index.ts';
export {
  createEmbeddedEngine,
  createEmbeddedSampler,
  type EmbeddedEngine,
  type EmbeddedEngineOptions,
  type EmbeddedSampler,
} from './host/index.ts';
export {
  initParameters,
  type LoraConfig,
  type ModelConfig,
  type Parameters,
  type Projection,
  projections,
} from './model/index.ts';
export {
  type ChatMessage,
  ChatTemplate,
  createTokenizer,
  defaultChatTemplate,
  IncrementalDecoder,
  loadTokenizer,
  type RenderRequest,
  type Tokenizer,
  type TrainedTokenizer,
  type TrainTokenizerOptions,
  trainTokenizer,
} from './text/index.ts';
