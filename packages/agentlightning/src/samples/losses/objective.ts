import type { ClipBounds } from './clipped-surrogate.ts';
import { type CorrectionBounds, type CorrectionName, mismatchFactors } from './corrections.ts';
import { sampledEntropy } from './entropy.ts';
import { type KlEstimator, klToReference } from './kl.ts';
import { type PolicyLossName, policyLosses } from './losses.ts';
import type { LossRow, TokenLoss } from './row.ts';

export interface ObjectiveOptions {
  loss: PolicyLossName;
  clip: ClipBounds;
  correction: CorrectionBounds & { name: CorrectionName };
  /** In the loss; a coefficient of 0 is off. */
  kl: { coefficient: number; estimator: KlEstimator };
  /** Coefficient of the entropy bonus; 0 is off. */
  entropy: number;
}

/** A row with what the parts of the objective compare; nats, one length. */
export interface ObjectiveRow extends Omit<LossRow, 'behaviourLogProbs'> {
  sampledLogProbs: ArrayLike<number>;
  /** By the trainer, before the step moved a weight; only a correction needs them. */
  oldLogProbs?: ArrayLike<number>;
  /** Only the KL term needs them. */
  referenceLogProbs?: ArrayLike<number>;
}

/**
 * The whole loss of a row: (policy loss − entropy bonus) × correction + coefficient · KL. Without a correction the ratio is that to the
 * sampler; with one it is that to the trainer's own old log probs, and the factor makes up for the rest (decoupled PPO,
 * arXiv 2110.00641).
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function objective(row: ObjectiveRow, { loss, clip, correction, kl, entropy }: ObjectiveOptions): TokenLoss {
  const { logProbs, sampledLogProbs, weights, advantages } = row;
  const old = row.oldLogProbs ?? sampledLogProbs;
  const { tokens } = policyLosses.find(({ name }) => name === loss)!;
  const compared = { logProbs, behaviourLogProbs: old, advantages, weights };
  const total = tokens(compared, clip);
  if (entropy > 0) add(total, sampledEntropy(compared), entropy);
  if (correction.name !== 'none') {
    const factors = mismatchFactors({ logProbs: old, sampledLogProbs, weights }, correction.name, correction);
    for (const [token, factor] of factors.entries()) {
      total.loss[token]! *= factor;
      total.slope[token]! *= factor;
    }
  }
  if (kl.coefficient === 0) return total;
  const referenceLogProbs = row.referenceLogProbs ?? [];
  const penalty = klToReference({ logProbs, referenceLogProbs, weights }, kl.estimator);
  add(total, penalty, kl.coefficient);
  return total;
}

function add(total: TokenLoss, part: Pick<TokenLoss, 'loss' | 'slope'>, coefficient: number): void {
  for (const [token, loss] of part.loss.entries()) {
    total.loss[token]! += coefficient * loss;
    total.slope[token]! += coefficient * part.slope[token]!;
  }
}
