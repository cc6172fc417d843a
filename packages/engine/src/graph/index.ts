/** Writes ONNX models and differentiates them. Knows tensors and operators; must not know what a language model is. */
export {
  add,
  addBias,
  addMask,
  gelu,
  multiply,
  scale,
  scaleGradient,
  silu,
  softCap,
  softCapSlope,
} from './elementwise.ts';
export { concatRows, gatherRows, reshape, sliceRows, transpose } from './layout.ts';
export { batchedMatmul, linear, product } from './matmul.ts';
export { logSoftmax, rmsNorm, softmax } from './normalise.ts';
export type { Shape } from './onnx.ts';
export { concatAxis, gatherTokens, reshapeAs, sliceAxis } from './ragged.ts';
export { type RotaryConstants, rotary } from './rotary.ts';
export type { OrtModule, OrtSession, OrtSessionOptions, OrtTensor } from './runtime.ts';
export { Tape, type Value } from './tape.ts';
