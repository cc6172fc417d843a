import type { LossSpec, TrainRow } from '../contract.ts';
import type { Purpose } from './purpose.ts';

/** Takes gradients as a pass finds them; the arrays belong to the pass. */
export interface GradientSink {
  /** Adds to the gradient of a parameter. */
  add(parameter: string, values: Float32Array): void;
  /** Adds rows [N, hiddenSize] to the embedding's gradient at `ids` [N]. */
  addEmbeddingRows(ids: Int32Array, rows: Float32Array): void;
}

export interface PassResult {
  /** Per row; position t is the log prob of token t+1. */
  logProbs: Float32Array[];
  /** Likewise, of the state before that token; with a value head only. */
  values: Float32Array[] | undefined;
  /** Sum over tokens, in float64; 0 without a loss. */
  loss: number;
}

/** `purpose` is the loss's name where there is one. */
export interface Work {
  purpose: Purpose;
  loss: LossSpec | undefined;
  /** Asked between runs of the model; throws when it is aborted. */
  checkCancelled: () => void;
}

/** Runs rows through the model, forward and, with a loss, backward. */
export interface TrainingPass {
  run(rows: readonly TrainRow[], work: Work, gradients: GradientSink): Promise<PassResult>;
  release(): Promise<void>;
}

export function sum(values: Float32Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total;
}

export function dot(a: Float32Array, b: Float32Array): number {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i]! * b[i]!;
  return total;
}
