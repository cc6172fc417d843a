import type { Shape } from '../graph/index.ts';
import type { ModelConfig } from './config.ts';
import { normalArray, seededUniform } from './random.ts';

/** Weights by name. Matrices are [in, out], the transpose of Hugging Face's files; embedding and head are [vocabulary, hidden]. */
export type Parameters = Map<string, Float32Array>;

export const embeddingName = 'model.embed_tokens.weight';
export const finalNormName = 'model.norm.weight';
const untiedHeadName = 'lm_head.weight';

/** The seven matrices of a layer and the block each stands in. */
const blocks = {
  q_proj: 'self_attn',
  k_proj: 'self_attn',
  v_proj: 'self_attn',
  o_proj: 'self_attn',
  gate_proj: 'mlp',
  up_proj: 'mlp',
  down_proj: 'mlp',
} as const;
export type Projection = keyof typeof blocks;
export const projections = Object.keys(blocks) as Projection[];

export function projectionName(layer: number, projection: Projection): string {
  return `model.layers.${layer}.${blocks[projection]}.${projection}.weight`;
}

/** The last two stand in models with output norms only. */
export type LayerNorm =
  | 'input_layernorm'
  | 'post_attention_layernorm'
  | 'pre_feedforward_layernorm'
  | 'post_feedforward_layernorm';

export function normName(layer: number, norm: LayerNorm): string {
  return `model.layers.${layer}.${norm}.weight`;
}

export function headNormName(layer: number, norm: 'q_norm' | 'k_norm'): string {
  return `model.layers.${layer}.self_attn.${norm}.weight`;
}

/** Of the bias of a matrix that has one. */
export function biasName(matrix: string): string {
  return matrix.replace(/\.weight$/, '.bias');
}

/** The matrix that turns hidden states into logits. */
export function headName(config: ModelConfig): string {
  return config.tiedEmbeddings ? embeddingName : untiedHeadName;
}

/** Name and shape of every parameter, in the order of the computation. */
export function parameterShapes(config: ModelConfig): Map<string, Shape> {
  const { hiddenSize, vocabularySize } = config;
  const shapes = new Map<string, Shape>([[embeddingName, [vocabularySize, hiddenSize]]]);
  for (let layer = 0; layer < config.layers; layer++) {
    const project = (...names: Projection[]) => {
      for (const name of names) shapes.set(projectionName(layer, name), projectionShape(config, name));
    };
    const norm = (name: LayerNorm) => shapes.set(normName(layer, name), [hiddenSize]);
    norm('input_layernorm');
    project('q_proj', 'k_proj', 'v_proj');
    if (config.projectionBiases === true) {
      for (const name of ['q_proj', 'k_proj', 'v_proj'] as const)
        shapes.set(biasName(projectionName(layer, name)), [projectionShape(config, name)[1]]);
    }
    if (config.headNorms === true) {
      for (const name of ['q_norm', 'k_norm'] as const) shapes.set(headNormName(layer, name), [config.headSize]);
    }
    project('o_proj');
    norm('post_attention_layernorm');
    if (config.outputNorms === true) norm('pre_feedforward_layernorm');
    project('gate_proj', 'up_proj', 'down_proj');
    if (config.outputNorms === true) norm('post_feedforward_layernorm');
  }
  shapes.set(finalNormName, [hiddenSize]);
  shapes.set(headName(config), [vocabularySize, hiddenSize]);
  return shapes;
}

/** [in, out]. */
export function projectionShape(config: ModelConfig, projection: Projection): readonly [number, number] {
  const { hiddenSize, intermediateSize } = config;
  const querySize = config.heads * config.headSize;
  const keySize = config.kvHeads * config.headSize;
  switch (projection) {
    case 'q_proj':
      return [hiddenSize, querySize];
    case 'k_proj':
    case 'v_proj':
      return [hiddenSize, keySize];
    case 'o_proj':
      return [querySize, hiddenSize];
    case 'gate_proj':
    case 'up_proj':
      return [hiddenSize, intermediateSize];
    case 'down_proj':
      return [intermediateSize, hiddenSize];
  }
}

/**
 * Fresh weights: norms 1, biases 0; embedding and head N(0, 0.02²); matrices that keep the variance of their input N(0, 1/in); those that write
 * to the residual stream N(0, 0.02²/2L), as in GPT-2 (Radford et al. 2019, §2.3), so that depth does not widen it.
 */
export function initParameters(config: ModelConfig, seed: number): Parameters {
  const uniform = seededUniform(seed);
  const parameters: Parameters = new Map();
  for (const [name, shape] of parameterShapes(config)) {
    const length = sizeOf(shape);
    const values =
      shape.length === 1
        ? new Float32Array(length).fill(name.endsWith('.bias') ? 0 : 1)
        : normalArray(length, deviation(config, name, shape[0]!), uniform);
    parameters.set(name, values);
  }
  return parameters;
}

export function sizeOf(shape: Shape): number {
  return shape.reduce((product, size) => product * size, 1);
}

function deviation(config: ModelConfig, name: string, inputs: number): number {
  if (name === embeddingName || name === untiedHeadName) return 0.02;
  if (name.includes('.o_proj.') || name.includes('.down_proj.')) return 0.02 / Math.sqrt(2 * config.layers);
  return 1 / Math.sqrt(inputs);
}
