import { AgentLightningError } from '../../errors.ts';

/** The trained tokens of one sequence (a sample's row), each array of the same length; log probs in nats. */
export interface LossRow {
  /** Under the weights that are being moved. */
  logProbs: ArrayLike<number>;
  /** Of the policy that the ratio compares with. */
  behaviourLogProbs: ArrayLike<number>;
  advantages: ArrayLike<number>;
  /** 0 masks a token. */
  weights: ArrayLike<number>;
}

export interface TokenLoss {
  /** Weighted loss, to be minimised. */
  loss: Float64Array;
  /** Derivative of the loss with respect to the current log prob: its negative is the coefficient for any engine. */
  slope: Float64Array;
  /** 1 where a bound took or limited the gradient. */
  clipped: Uint8Array;
}

/** Of one token, before its weight. */
export interface TokenTerms {
  loss: number;
  slope: number;
  clipped: boolean;
}

interface Token {
  logProb: number;
  /** p / p of the behaviour policy. */
  ratio: number;
  advantage: number;
}

/**
 * Weighs what `terms` gives for each token; masked tokens are not asked for. A NaN is passed on, so that the sum shows it.
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function weighTokens(row: LossRow, terms: (token: Token) => TokenTerms): TokenLoss {
  const { logProbs, behaviourLogProbs, advantages, weights } = row;
  assertSameLength(logProbs, { behaviourLogProbs, advantages, weights });
  const { length } = logProbs;
  const result = { loss: new Float64Array(length), slope: new Float64Array(length), clipped: new Uint8Array(length) };
  for (let token = 0; token < length; token += 1) {
    const weight = weights[token]!;
    if (weight === 0) continue;
    const logProb = logProbs[token]!;
    const ratio = Math.exp(logProb - behaviourLogProbs[token]!);
    const { loss, slope, clipped } = terms({ logProb, ratio, advantage: advantages[token]! });
    result.loss[token] = weight * loss;
    result.slope[token] = weight * slope;
    result.clipped[token] = clipped ? 1 : 0;
  }
  return result;
}

/** @throws {AgentLightningError} `shape_mismatch` */
export function assertSameLength(logProbs: ArrayLike<number>, others: Record<string, ArrayLike<number>>): void {
  for (const [name, array] of Object.entries(others)) {
    if (array.length === logProbs.length) continue;
    throw new AgentLightningError({
      code: 'shape_mismatch',
      message: `A row has ${logProbs.length} log probs, but ${array.length} ${name}.`,
    });
  }
}

/** Sum and number of ln(left / right) over the tokens that are not masked. */
export function sumLogRatio(
  left: ArrayLike<number>,
  right: ArrayLike<number>,
  weights: ArrayLike<number>,
): { sum: number; count: number } {
  let sum = 0;
  let count = 0;
  for (let token = 0; token < weights.length; token += 1) {
    if (weights[token] === 0) continue;
    sum += left[token]! - right[token]!;
    count += 1;
  }
  return { sum, count };
}
