/** A weight file of any form, seen in Hugging Face's names and shapes. */
export interface TensorReader {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, { readonly shape: readonly number[] }>;
  /** As float32, row-major. */
  read(name: string): Promise<Float32Array>;
  close(): Promise<void>;
  /** Norm weights are the factors themselves, in families whose safetensors hold them minus 1. */
  readonly normsAreFactors?: boolean;
}
