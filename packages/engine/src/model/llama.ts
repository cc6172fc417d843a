import { add, multiply, rmsNorm, silu, type Tape, type Value } from '../graph/index.ts';
import type { ModelConfig } from './config.ts';
import { finalNormName, normName, type Projection, projectionName } from './parameters.ts';

/**
 * What differs between uses of the decoder: training reads weights as inputs and attends over whole rows; sampling reads constants,
 * may fuse the matrices that share an input, and attends to a cache.
 */
export interface DecoderParts {
  /** x [N, in] times each of the named matrices [in, out]. */
  project: (x: Value, matrices: readonly string[]) => Value[];
  /** A norm's weights [hiddenSize]. */
  vector: (name: string) => Value;
  /** Positions and attention: q [N, heads · headSize], k and v [N, kvHeads · headSize] → [N, heads · headSize]. */
  attend: (layer: number, q: Value, k: Value, v: Value) => Value;
}

/**
 * The layers and the final norm of a Llama decoder (Touvron et al. 2023, arXiv 2302.13971, §2.2).
 *
 * @param embedded embedding rows of N tokens, [N, hiddenSize]
 * @returns hidden states, [N, hiddenSize]; `product(tape, hidden, head, { transposeB: true })` makes them logits
 */
export function emitDecoder(tape: Tape, config: ModelConfig, embedded: Value, parts: DecoderParts): Value {
  const norm = (x: Value, name: string) => rmsNorm(tape, x, parts.vector(name), config.normEps);
  let x = embedded;
  for (let layer = 0; layer < config.layers; layer++) {
    const project = (input: Value, ...names: Projection[]) =>
      parts.project(
        input,
        names.map((name) => projectionName(layer, name)),
      );
    const attentionInput = norm(x, normName(layer, 'input_layernorm'));
    const [q, k, v] = project(attentionInput, 'q_proj', 'k_proj', 'v_proj');
    x = add(tape, x, project(parts.attend(layer, q!, k!, v!), 'o_proj')[0]!);
    const mlpInput = norm(x, normName(layer, 'post_attention_layernorm'));
    const [gate, up] = project(mlpInput, 'gate_proj', 'up_proj');
    x = add(tape, x, project(multiply(tape, silu(tape, gate!), up!), 'down_proj')[0]!);
  }
  return norm(x, finalNormName);
}
