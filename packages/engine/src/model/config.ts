import { EngineError } from '../errors.ts';

/**
 * The shape of a decoder. Without the optional fields it is a Llama; each of them is one step that another family takes otherwise,
 * and what a checkpoint means by it is in files/families.
 */
export interface ModelConfig {
  /** Of files/families. Absent: `llama`. */
  family?: string;
  vocabularySize: number;
  hiddenSize: number;
  layers: number;
  /** Query heads. */
  heads: number;
  /** Key and value heads; each serves heads / kvHeads query heads (Ainslie et al. 2023, arXiv 2305.13245). */
  kvHeads: number;
  headSize: number;
  intermediateSize: number;
  normEps: number;
  ropeTheta: number;
  ropeScaling?: RopeScaling;
  /** Leading entries of a head that are rotated. Absent: all. */
  rotarySize?: number;
  /** Layers that see no further back than some tokens. */
  slidingWindow?: SlidingWindow;
  /** Queries, keys and values have biases (Qwen 2). */
  projectionBiases?: boolean;
  /** Every query and key head has an RMS norm before its rotation (Qwen 3, Gemma 3). */
  headNorms?: boolean;
  /** What attention and MLP give is normed as well, before it is added (Gemma 2 and 3). */
  outputNorms?: boolean;
  /** Of the MLP's gate. Absent: SiLU. */
  activation?: 'gelu_tanh';
  /** Factor on the embedding rows, not on the tied head (Gemma). */
  embeddingScale?: number;
  /** Factor on q·k. Absent: headSize^−½. */
  attentionScale?: number;
  /** Attention scores s become c·tanh(s / c) (Gemma 2, arXiv 2408.00118, §2). */
  attentionSoftCap?: number;
  /** The same for logits. */
  logitSoftCap?: number;
  /** The output matrix is the embedding matrix. */
  tiedEmbeddings: boolean;
  /** Tokens of prompt and answer together. */
  maxTokens: number;
}

/** How rotations are slowed down beyond the length that a model was first trained at; see rope.ts. */
export type RopeScaling =
  | { type: 'linear'; factor: number }
  | { type: 'llama3'; factor: number; lowFrequency: number; highFrequency: number; originalTokens: number }
  | {
      type: 'yarn';
      factor: number;
      betaFast: number;
      betaSlow: number;
      originalTokens: number;
      /** Factor on cos and sin. */
      attentionFactor: number;
      /** Round the bounds of the ramp to whole dimensions. */
      truncate: boolean;
    }
  /** One divisor for each frequency: LongRoPE, and what llama.cpp writes for Llama 3. */
  | { type: 'factors'; factors: readonly number[]; attentionFactor: number };

export interface SlidingWindow {
  /** A token sees itself and `tokens − 1` before it. */
  tokens: number;
  /** One entry for each layer. */
  layers: readonly boolean[];
  /** Base of these layers' rotations, which then are not scaled. Absent: they rotate as all others do. */
  ropeTheta?: number;
}

const sizes = [
  'vocabularySize',
  'hiddenSize',
  'layers',
  'heads',
  'kvHeads',
  'headSize',
  'intermediateSize',
  'maxTokens',
] as const satisfies readonly (keyof ModelConfig)[];

/** @throws {EngineError} `model_config_invalid`, naming the field */
export function assertModelConfig(config: ModelConfig): void {
  for (const field of sizes) {
    if (!Number.isSafeInteger(config[field]) || config[field] < 1) {
      throw invalid(`${field} is ${config[field]}, but must be a whole number of at least 1.`);
    }
  }
  if (config.heads % config.kvHeads !== 0) {
    throw invalid(`heads (${config.heads}) is not a multiple of kvHeads (${config.kvHeads}).`);
  }
  if (config.headSize % 2 !== 0) {
    throw invalid(`headSize (${config.headSize}) is odd; rotary positions turn its entries in pairs.`);
  }
  const { rotarySize = config.headSize, ropeScaling, slidingWindow } = config;
  if (!Number.isSafeInteger(rotarySize / 2) || rotarySize < 2 || rotarySize > config.headSize) {
    throw invalid(`rotarySize (${rotarySize}) is not an even number between 2 and headSize (${config.headSize}).`);
  }
  if (ropeScaling?.type === 'factors' && ropeScaling.factors.length !== rotarySize / 2) {
    throw invalid(`ropeScaling has ${ropeScaling.factors.length} factors for ${rotarySize / 2} frequencies.`);
  }
  if (slidingWindow !== undefined && slidingWindow.layers.length !== config.layers) {
    throw invalid(`slidingWindow speaks of ${slidingWindow.layers.length} layers, but there are ${config.layers}.`);
  }
  if (slidingWindow !== undefined && !(Number.isSafeInteger(slidingWindow.tokens) && slidingWindow.tokens > 0)) {
    throw invalid(`slidingWindow.tokens is ${slidingWindow.tokens}, but must be a whole number of at least 1.`);
  }
  if (!(config.normEps > 0)) throw invalid(`normEps is ${config.normEps}, but must be above 0.`);
  if (!(config.ropeTheta > 0)) throw invalid(`ropeTheta is ${config.ropeTheta}, but must be above 0.`);
}

/** What tells the layers of a model apart. */
export type LayerKind = 'full' | 'sliding';

/** A window as long as the longest row hides nothing, but its layers may still rotate in a way of their own. */
export function layerKind(config: ModelConfig, layer: number): LayerKind {
  return config.slidingWindow?.layers[layer] === true ? 'sliding' : 'full';
}

export function attentionScale(config: ModelConfig): number {
  return config.attentionScale ?? 1 / Math.sqrt(config.headSize);
}

function invalid(problem: string): EngineError {
  return new EngineError({
    code: 'model_config_invalid',
    message: `The model configuration does not fit together: ${problem}`,
    hint: 'Correct the value in the model configuration (config.json of the model folder).',
    category: 'user',
  });
}
