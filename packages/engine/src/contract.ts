/**
 * What the trainer asks of anything that holds weights (design §4): token ids in, numbers out.
 * Log probs are nats. Token arrays are aligned so that entry t of a row belongs to predicting `tokenIds[t]`.
 */
export interface SampleRequest {
  promptIds: Int32Array;
  maxTokens: number;
  /** 0 is greedy. */
  temperature: number;
  topP: number;
  /** 0 keeps all. */
  topK: number;
  /** Sampling ends after any of these ids; the id is part of the answer. */
  stopIds: number[];
  /** Sampling ends when the decoded answer contains one of these texts. */
  stop: string[];
  /** Same seed, weights and prompt give the same ids, whatever else is being sampled. */
  seed: number;
}

export interface SampledTokens {
  ids: number[];
  /**
   * ln p of each id under softmax(logits / temperature), before top-p and top-k cut anything; at temperature 0 under
   * softmax(logits). With top-p 1 and top-k 0 that is exactly the sampling distribution.
   */
  logProbs: number[];
  policyVersion: number;
}

export interface SampleResult {
  tokenIds: Int32Array;
  logProbs: Float32Array;
  finishReason: 'stop' | 'length' | 'cancelled';
  policyVersions: { from: number; version: number }[];
}

/** One training row. All arrays have the length of `tokenIds`; entry 0 of the per-token arrays has no prediction and must be 0. */
export interface TrainRow {
  tokenIds: Int32Array;
  /** Weight of each token in the loss; 0 masks it. */
  weights: Float32Array;
  /** For policy-gradient losses. */
  advantages?: Float32Array;
  /** Behaviour log probs, for losses that use a ratio. */
  logProbs?: Float32Array;
  /** ∂C/∂V of each token, for losses of the value head's predictions. */
  valueSlopes?: Float32Array;
}

/**
 * Sum over all tokens of all rows, weights included (C = loss to be minimised):
 * - `cross_entropy`: −Σ w·logp; with w := −∂C/∂logp it carries any loss of the log probs.
 * - `clipped_policy_gradient`: −Σ w·min(r·A, clip(r, 1−low, 1+high)·A), r = exp(logp − logProbs).
 * - `actor_critic`: −Σ w·logp + Σ u·V with u the rows' `valueSlopes`: w := −∂C/∂logp and u := ∂C/∂V carry any loss of
 *   log probs and values. `trunk` scales what of u reaches the model below the value head; 0 trains the head alone.
 */
export type LossSpec =
  | { name: 'cross_entropy' }
  | { name: 'actor_critic'; trunk: number }
  | { name: 'clipped_policy_gradient'; clipLow: number; clipHigh: number };

export interface ForwardBackwardResult {
  /** Sum over tokens, nats. */
  loss: number;
  /** Per row, length of `tokenIds`; entry 0 is 0. */
  logProbs: Float32Array[];
  /** Of `actor_critic`: what the value head predicts before each token is chosen; shaped as `logProbs`. */
  values?: Float32Array[];
}

/** Per row, length of `tokenIds`; entry 0 is 0. */
export interface ValueResult {
  logProbs: Float32Array[];
  /** Predicted return, in units of the reward, of the state in which each token is chosen. */
  values: Float32Array[];
}

export interface OptimStep {
  learningRate: number;
  /** Of the value head; `learningRate` by default. */
  valueLearningRate?: number;
  beta1?: number;
  beta2?: number;
  eps?: number;
  weightDecay?: number;
  /** Global L2 norm; gradients are scaled down to it. 0 or absent: no clipping. */
  maxGradNorm?: number;
}

export interface EngineInfo {
  name: string;
  /** How `forwardBackward` reduces over tokens; adapters make every engine a sum. */
  reduction: 'sum';
  vocabularySize: number;
  /** Tokens of prompt and answer together. */
  maxTokens: number;
  parameters: number;
  trainableParameters: number;
  /** The engine predicts values (`forwardValues`, `actor_critic`). Absent: it does not. */
  valueHead?: boolean;
  /** `native` or `wasm`, and why, for the embedded engine. */
  backend: string;
}

export interface Engine {
  info(): EngineInfo;
  /** `onTokens` is called as they are sampled. An aborted signal ends with `finishReason: 'cancelled'` and what there is. */
  sample(
    request: SampleRequest,
    options?: { signal?: AbortSignal; onTokens?: (tokens: SampledTokens) => void },
  ): Promise<SampleResult>;
  /** Log probs of each row under the trainer's current weights, at temperature 1. */
  forward(rows: TrainRow[]): Promise<Float32Array[]>;
  /** The same with the predictions of the value head, on engines that have one. */
  forwardValues?(rows: TrainRow[]): Promise<ValueResult>;
  /**
   * Adds to the gradients until `optimStep`. An aborted signal ends it with an error as soon as a run of the model has ended; then no
   * gradients are left, and weights and optimiser are as they were.
   */
  forwardBackward(rows: TrainRow[], loss: LossSpec, options?: { signal?: AbortSignal }): Promise<ForwardBackwardResult>;
  /** Applies and clears the gradients. Returns their norm before clipping. */
  optimStep(step: OptimStep): Promise<{ gradNorm: number }>;
  /** Weights, optimiser state and counters, atomically: a killed save leaves no readable half folder. */
  saveState(folder: string): Promise<void>;
  loadState(folder: string): Promise<void>;
  /** Makes the current weights the served ones under `version`. Calls under way finish on it from their next token. */
  publish(version: number): Promise<void>;
  /** A folder that `loadModel` and other programs read: config.json, model.safetensors, tokenizer.json, chat template. */
  export(folder: string): Promise<void>;
  close(): Promise<void>;
}
