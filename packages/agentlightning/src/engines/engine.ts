/** The engine contract is owned by the engine package, so that an engine never has to know the trainer. */
export type {
  Engine,
  EngineInfo,
  ForwardBackwardResult,
  LossSpec,
  OptimStep,
  SampleRequest,
  SampleResult,
  TrainRow,
  ValueResult,
} from '@agentlightning/engine';
