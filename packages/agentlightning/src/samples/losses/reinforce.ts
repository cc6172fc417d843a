import { type LossRow, type TokenLoss, weighTokens } from './row.ts';

/**
 * REINFORCE (Williams 1992): −A·ln p. No ratio: right for one pass over samples of the weights that are being moved.
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function reinforce(row: LossRow): TokenLoss {
  return weighTokens(row, ({ logProb, advantage }) => ({
    loss: -advantage * logProb,
    slope: -advantage,
    clipped: false,
  }));
}
