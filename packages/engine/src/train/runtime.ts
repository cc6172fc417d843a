import type { OrtModule, OrtSessionOptions, OrtTensor } from '../graph/index.ts';

/** What every training session is created with. */
export interface PassRuntime {
  ort: OrtModule;
  /** Tensors over the live weights, by parameter name. */
  parameters: Readonly<Record<string, OrtTensor>>;
  sessionOptions: OrtSessionOptions;
}
