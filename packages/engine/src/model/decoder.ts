import { add, gelu, multiply, reshape, rmsNorm, scale, silu, type Tape, type Value } from '../graph/index.ts';
import type { ModelConfig } from './config.ts';
import {
  finalNormName,
  headNormName,
  type LayerNorm,
  normName,
  type Projection,
  projectionName,
} from './parameters.ts';

/**
 * What differs between uses of the decoder: training reads weights as inputs and attends over whole rows; sampling reads constants,
 * may fuse the matrices that share an input, and attends to a cache.
 */
export interface DecoderParts {
  /** x [N, in] times each of the named matrices [in, out], plus the bias where there is one. */
  project: (x: Value, matrices: readonly string[]) => Value[];
  /** A norm's weights. */
  vector: (name: string) => Value;
  /** Positions and attention: q [N, heads · headSize], k and v [N, kvHeads · headSize] → [N, heads · headSize]. */
  attend: (layer: number, q: Value, k: Value, v: Value) => Value;
}

/**
 * The layers and the final norm of a Llama decoder (Touvron et al. 2023, arXiv 2302.13971, §2.2), with the steps that other families
 * add where the configuration asks for them.
 *
 * @param embedded embedding rows of N tokens, [N, hiddenSize]
 * @returns hidden states, [N, hiddenSize]; `product(tape, hidden, head, { transposeB: true })` makes them logits; a soft cap is left to the caller
 */
export function emitDecoder(tape: Tape, config: ModelConfig, embedded: Value, parts: DecoderParts): Value {
  let x = scale(tape, embedded, config.embeddingScale ?? 1);
  for (let layer = 0; layer < config.layers; layer++) x = emitLayer(tape, config, layer, x, parts);
  return rmsNorm(tape, x, parts.vector(finalNormName), config.normEps);
}

/** One layer: what it makes of x [N, hiddenSize]. */
export function emitLayer(tape: Tape, config: ModelConfig, layer: number, x: Value, parts: DecoderParts): Value {
  const norm = (input: Value, name: string) => rmsNorm(tape, input, parts.vector(name), config.normEps);
  const activate = config.activation === 'gelu_tanh' ? gelu : silu;
  const project = (input: Value, ...names: Projection[]) =>
    parts.project(
      input,
      names.map((name) => projectionName(layer, name)),
    );
  const layerNorm = (input: Value, name: LayerNorm) => norm(input, normName(layer, name));
  const headNorm = (input: Value, name: 'q_norm' | 'k_norm') =>
    config.headNorms === true
      ? headwise(tape, input, config.headSize, (y) => norm(y, headNormName(layer, name)))
      : input;
  const outputNorm = (y: Value, name: LayerNorm) => (config.outputNorms === true ? layerNorm(y, name) : y);

  const [q, k, v] = project(layerNorm(x, 'input_layernorm'), 'q_proj', 'k_proj', 'v_proj');
  const attended = parts.attend(layer, headNorm(q!, 'q_norm'), headNorm(k!, 'k_norm'), v!);
  const mixed = add(tape, x, outputNorm(project(attended, 'o_proj')[0]!, 'post_attention_layernorm'));
  // Llama names the norm before its MLP after what stands before it.
  const mlpInput = layerNorm(
    mixed,
    config.outputNorms === true ? 'pre_feedforward_layernorm' : 'post_attention_layernorm',
  );
  const [gate, up] = project(mlpInput, 'gate_proj', 'up_proj');
  const down = project(multiply(tape, activate(tape, gate!), up!), 'down_proj')[0]!;
  return add(tape, mixed, outputNorm(down, 'post_feedforward_layernorm'));
}

/** [N, heads · headSize] as [N · heads, headSize], and back. N may be unknown, which is a negative size. */
function headwise(tape: Tape, x: Value, headSize: number, each: (x: Value) => Value): Value {
  const [rows, width] = x.shape as [number, number];
  const heads = width / headSize;
  return reshape(tape, each(reshape(tape, x, [rows < 0 ? rows : rows * heads, headSize])), [rows, width]);
}
