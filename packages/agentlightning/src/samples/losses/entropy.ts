import { type LossRow, type TokenLoss, weighTokens } from './row.ts';

/**
 * Entropy bonus from sampled tokens: the loss is r·ln p, whose mean over tokens of the behaviour policy is −H of the current
 * one. The slope is r·ln p, the derivative without its constant r: the mean of r·∇ln p is 0, so the expected gradient is that
 * of −H exactly, and a token that was certain is left alone. A step of few tokens has the gradient's noise, which the exact
 * entropy of the whole distribution would not.
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function sampledEntropy(row: LossRow): TokenLoss {
  return weighTokens(row, ({ ratio, logProb }) => ({ loss: ratio * logProb, slope: ratio * logProb, clipped: false }));
}
