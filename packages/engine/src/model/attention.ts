import {
  addMask,
  batchedMatmul,
  reshape,
  rotary,
  softCap,
  softmax,
  type Tape,
  transpose,
  type Value,
} from '../graph/index.ts';
import { attentionScale, type LayerKind, layerKind, type ModelConfig } from './config.ts';
import type { DecoderParts } from './decoder.ts';
import { rotaryConstants } from './rope.ts';

/** Large enough to vanish in a softmax, and finite, so that no backend makes NaN of it. */
export const maskedScore = -1e9;

/**
 * Causal attention over B rows of T tokens at positions 0 … T−1. Query heads of a group lie below each other as rows of one matrix,
 * so keys and values are never repeated and their gradients add up over the group inside one matrix product.
 */
export function causalAttention(
  tape: Tape,
  config: ModelConfig,
  batch: number,
  length: number,
): DecoderParts['attend'] {
  const { kvHeads, headSize } = config;
  const groupSize = config.heads / kvHeads;
  const positions = tape.constant(
    'int64',
    [batch, length],
    Array.from({ length: batch * length }, (_, token) => token % length),
  );
  const constants = (kind: LayerKind) => ({
    rope: rotaryConstants(tape, config, { positions, count: length, kind }),
    mask: causalMask(tape, groupSize, length, kind === 'sliding' ? config.slidingWindow?.tokens : undefined),
  });
  const known = new Map<LayerKind, ReturnType<typeof constants>>();
  return (layer, q, k, v) => {
    const kind = layerKind(config, layer);
    const { rope, mask } = known.get(kind) ?? constants(kind);
    known.set(kind, { rope, mask });
    const rotated = (x: Value) => rotary(tape, reshape(tape, x, [batch, length, x.shape[1]!]), rope);
    const keyRows = (x: Value) => transpose(tape, reshape(tape, x, [batch, length, kvHeads, headSize]), [0, 2, 1, 3]);
    const grouped = reshape(tape, rotated(q), [batch, length, kvHeads, groupSize, headSize]);
    const queries = reshape(tape, transpose(tape, grouped, [0, 2, 3, 1, 4]), [
      batch,
      kvHeads,
      groupSize * length,
      headSize,
    ]);
    const scores = batchedMatmul(tape, queries, keyRows(rotated(k)), {
      transposeB: true,
      alpha: attentionScale(config),
    });
    const capped = config.attentionSoftCap === undefined ? scores : softCap(tape, scores, config.attentionSoftCap);
    const weights = softmax(tape, addMask(tape, capped, mask));
    const mixed = reshape(tape, batchedMatmul(tape, weights, keyRows(v)), [
      batch,
      kvHeads,
      groupSize,
      length,
      headSize,
    ]);
    return reshape(tape, transpose(tape, mixed, [0, 3, 1, 2, 4]), [batch * length, config.heads * headSize]);
  };
}

/** [1, 1, groupSize · T, T]; with a window, what lies further back than it is masked, too. */
function causalMask(tape: Tape, groupSize: number, length: number, window = length): Value {
  const mask = new Float32Array(groupSize * length * length);
  for (let row = 0; row < groupSize * length; row++) {
    const position = row % length;
    mask.fill(maskedScore, row * length, row * length + Math.max(0, position + 1 - window));
    mask.fill(maskedScore, row * length + position + 1, (row + 1) * length);
  }
  return tape.constant('float32', [1, 1, groupSize * length, length], mask);
}
