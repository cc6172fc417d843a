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
} from './contract.ts';
