import { assertSameLength } from './row.ts';

/** Log probs of the tokens of one sequence under two policies, nats, one length. */
export interface KlRow {
  logProbs: ArrayLike<number>;
  referenceLogProbs: ArrayLike<number>;
  /** 0 masks a token. */
  weights: ArrayLike<number>;
}

interface Terms {
  value: number;
  slope: number;
}

/**
 * Estimates of KL(policy ‖ reference) from one sampled token (Schulman, "Approximating KL Divergence", 2020), with
 * d = ln reference − ln p, and their derivative with respect to ln p. K3 is GRPO's (arXiv 2402.03300, eq. 4). As a loss
 * K1 has the same slope everywhere, and on policy the gradient of K2 is the one that is right in expectation.
 */
const estimators = {
  k1: (d) => ({ value: -d, slope: 1 }),
  k2: (d) => ({ value: d ** 2 / 2, slope: -d }),
  k3: (d) => ({ value: Math.expm1(d) - d, slope: -Math.expm1(d) }),
} as const satisfies Record<string, (d: number) => Terms>;

export type KlEstimator = keyof typeof estimators;

export const klEstimators = ['k1', 'k2', 'k3'] as const satisfies readonly KlEstimator[];

/**
 * Weighted estimate of each token, and its derivative with respect to the current log prob.
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function klToReference(row: KlRow, estimator: KlEstimator): { loss: Float64Array; slope: Float64Array } {
  const { logProbs, referenceLogProbs, weights } = row;
  assertSameLength(logProbs, { referenceLogProbs, weights });
  const loss = new Float64Array(logProbs.length);
  const slope = new Float64Array(logProbs.length);
  for (let token = 0; token < logProbs.length; token += 1) {
    const weight = weights[token]!;
    if (weight === 0) continue;
    const terms = estimators[estimator](referenceLogProbs[token]! - logProbs[token]!);
    loss[token] = weight * terms.value;
    slope[token] = weight * terms.slope;
  }
  return { loss, slope };
}

/**
 * KL as part of the reward: what each token's advantage loses, coefficient · Σ_{u ≥ t} KL_u over the tokens of the row
 * that are not masked (the return of REINFORCE++, arXiv 2501.03262, §3.1, with discount 1).
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function klReturns(row: KlRow, estimator: KlEstimator, coefficient: number): Float64Array {
  const mask = Float64Array.from(row.weights, (weight) => (weight === 0 ? 0 : 1));
  const returns = klToReference({ ...row, weights: mask }, estimator).loss;
  for (let token = returns.length - 2; token >= 0; token -= 1) returns[token]! += returns[token + 1]!;
  return returns.map((value, token) => (mask[token] === 0 ? 0 : coefficient * value));
}
