import { type LossRow, type TokenLoss, type TokenTerms, weighTokens } from './row.ts';

/** The ratio is cut to [1 − low, 1 + high]. */
export interface ClipBounds {
  low: number;
  high: number;
  /** Dual clip: with a negative advantage a ratio beyond this, which is above 1, teaches nothing more. 0 or absent: off. */
  dual?: number;
}

/**
 * Clipped policy-gradient objective of PPO (arXiv 1707.06347, eq. 7) as GRPO uses it (arXiv 2402.03300, eq. 3, β = 0),
 * with separate bounds as in DAPO's clip-higher (arXiv 2503.14476, §3.1) and the dual clip of arXiv 1912.09729, eq. 5.
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function clippedSurrogate(row: LossRow, bounds: ClipBounds): TokenLoss {
  return weighTokens(row, ({ ratio, advantage }) => clippedTerms(ratio, advantage, bounds));
}

/** The objective of one ratio; the slope is with respect to its logarithm. */
export function clippedTerms(ratio: number, advantage: number, { low, high, dual = 0 }: ClipBounds): TokenTerms {
  if (dual > 0 && advantage < 0 && ratio > dual) return { loss: -dual * advantage, slope: 0, clipped: true };
  const free = ratio * advantage;
  const cut = Math.min(Math.max(ratio, 1 - low), 1 + high) * advantage;
  const active = free <= cut; // min() picks the free branch
  return { loss: -Math.min(free, cut), slope: active ? -free : 0, clipped: !active };
}
