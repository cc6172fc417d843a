import type { ModelConfig } from '../model/index.ts';

const bytesPerFloat = 4;

/**
 * Rough memory of a run for each of its tokens, within a third of what was measured for models of 0.8M and 135M parameters. Training
 * keeps the activations of all layers for the backward pass; forward keeps those of one.
 */
export function activationBytesPerToken(config: ModelConfig, length: number, training: boolean): number {
  const attention = config.heads * (6 * config.headSize + 3 * length);
  const layer = 12 * config.hiddenSize + attention + 6 * config.intermediateSize;
  return bytesPerFloat * layer * (training ? config.layers : 1);
}

/** The same for a pass layer by layer, all tokens together: the inputs of all layers, and the activations of one. */
export function layeredBytes(
  config: ModelConfig,
  { tokens, rows, width }: { tokens: number; rows: number; width: number },
) {
  const { hiddenSize, layers, heads, headSize, intermediateSize, vocabularySize } = config;
  const kept = tokens * hiddenSize * (layers + 4);
  const layer = tokens * (20 * hiddenSize + 8 * heads * headSize + 8 * intermediateSize);
  const scores = 1.5 * rows * heads * width * width;
  const logits = 4 * 128 * vocabularySize;
  return bytesPerFloat * (kept + layer + scores + logits);
}
