import type { ClipBounds } from './clipped-surrogate.ts';
import { type LossRow, type TokenLoss, weighTokens } from './row.ts';

/**
 * CISPO (arXiv 2506.13585, eq. 4): −sg(clip(r, 1 − low, 1 + high))·A·ln p. The bound limits a token's weight and never
 * takes its gradient. The paper bounds from above alone: that is low = 1.
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function cispo(row: LossRow, { low, high }: ClipBounds): TokenLoss {
  return weighTokens(row, ({ logProb, ratio, advantage }) => {
    const slope = -Math.min(Math.max(ratio, 1 - low), 1 + high) * advantage;
    return { loss: slope * logProb, slope, clipped: ratio < 1 - low || ratio > 1 + high };
  });
}
