import { type LossRow, type TokenLoss, weighTokens } from './row.ts';

/**
 * The policy gradient corrected by importance sampling, without any bound: −r·A (the surrogate of arXiv 1502.05477,
 * eq. 14, and the Tinker protocol's loss of this name).
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function importanceSampling(row: LossRow): TokenLoss {
  return weighTokens(row, ({ ratio, advantage }) => ({
    loss: -ratio * advantage,
    slope: -ratio * advantage,
    clipped: false,
  }));
}
