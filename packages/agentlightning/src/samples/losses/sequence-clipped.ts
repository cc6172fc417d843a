import { type ClipBounds, clippedTerms } from './clipped-surrogate.ts';
import { assertSameLength, type LossRow, sumLogRatio, type TokenLoss, weighTokens } from './row.ts';

/**
 * GSPO (arXiv 2507.18071): the clipped objective with one ratio for the whole sequence, the geometric mean of its tokens'
 * ratios, s = exp(1/|y| Σ ln r_t) (eq. 7). Where advantages or weights differ between the tokens of a row, it is the
 * paper's GSPO-token (eq. 13): the value takes s, the gradient of each token s·A_t. With equal ones both are the same.
 *
 * The bounds are those of a mean: the paper clips at 3e-4 and 4e-4.
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function sequenceClipped(row: LossRow, bounds: ClipBounds): TokenLoss {
  const { logProbs, behaviourLogProbs, weights } = row;
  assertSameLength(logProbs, { behaviourLogProbs, weights });
  const { sum, count } = sumLogRatio(logProbs, behaviourLogProbs, weights);
  const ratio = count === 0 ? 1 : Math.exp(sum / count);
  return weighTokens(row, ({ advantage }) => clippedTerms(ratio, advantage, bounds));
}
