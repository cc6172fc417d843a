import type * as ort from 'onnxruntime-web';

/** What this package uses of ONNX Runtime. `onnxruntime-node` and `onnxruntime-web` both fit; the caller chooses and injects. */
export type OrtModule = Pick<typeof ort, 'InferenceSession' | 'Tensor'>;
export type OrtSession = ort.InferenceSession;
export type OrtTensor = ort.Tensor;
export type OrtSessionOptions = ort.InferenceSession.SessionOptions;
