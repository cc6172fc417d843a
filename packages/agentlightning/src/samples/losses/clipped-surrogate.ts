import { AgentLightningError } from '../../errors.ts';

/** The trained tokens of a row, each array of the same length; log probs in nats. */
export interface SurrogateRow {
  logProbs: ArrayLike<number>;
  behaviourLogProbs: ArrayLike<number>;
  advantages: ArrayLike<number>;
  /** 0 masks a token. */
  weights: ArrayLike<number>;
}

/** The ratio is cut to [1 − low, 1 + high]. */
export interface ClipBounds {
  low: number;
  high: number;
}

export interface TokenLoss {
  /** Weighted loss, to be minimised. */
  loss: Float64Array;
  /** Derivative of the loss with respect to the current log prob: its negative is the coefficient for any engine. */
  slope: Float64Array;
  /** 1 where the cut took the gradient away. */
  clipped: Uint8Array;
}

/**
 * Clipped policy-gradient objective of PPO (arXiv 1707.06347, eq. 7) as GRPO uses it (arXiv 2402.03300, eq. 3, β = 0),
 * with separate bounds as in DAPO's clip-higher (arXiv 2503.14476, §3.1).
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function clippedSurrogate(row: SurrogateRow, bounds: ClipBounds): TokenLoss {
  const { logProbs, behaviourLogProbs, advantages, weights } = row;
  const { length } = logProbs;
  for (const [name, array] of Object.entries({ behaviourLogProbs, advantages, weights })) {
    if (array.length === length) continue;
    throw new AgentLightningError({
      code: 'shape_mismatch',
      message: `A row has ${length} log probs, but ${array.length} ${name}.`,
    });
  }
  const result = { loss: new Float64Array(length), slope: new Float64Array(length), clipped: new Uint8Array(length) };
  for (let token = 0; token < length; token += 1) {
    const weight = weights[token]!;
    if (weight === 0) continue;
    const ratio = Math.exp(logProbs[token]! - behaviourLogProbs[token]!);
    const free = ratio * advantages[token]!;
    const cut = Math.min(Math.max(ratio, 1 - bounds.low), 1 + bounds.high) * advantages[token]!;
    const active = free <= cut; // min() picks the free branch
    result.loss[token] = -weight * Math.min(free, cut);
    result.slope[token] = active ? -weight * free : 0;
    result.clipped[token] = active ? 0 : 1;
  }
  return result;
}
