import { assertSameLength } from './row.ts';

/** Predictions of a critic for the trained tokens of one sequence, one length, in units of the reward. */
export interface ValueRow {
  values: ArrayLike<number>;
  /** Predictions when the step began. */
  oldValues: ArrayLike<number>;
  returns: ArrayLike<number>;
  /** 0 masks a token. */
  weights: ArrayLike<number>;
}

/**
 * Value loss of PPO with clipping: ½·max((V − R)², (clip(V, V_old ± clip) − R)²), as in OpenAI's baselines and verl;
 * clip 0 is off. The slope is with respect to V.
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function valueLoss(row: ValueRow, { clip }: { clip: number }): { loss: Float64Array; slope: Float64Array } {
  const { values, oldValues, returns, weights } = row;
  assertSameLength(values, { oldValues, returns, weights });
  const loss = new Float64Array(values.length);
  const slope = new Float64Array(values.length);
  for (let token = 0; token < values.length; token += 1) {
    const weight = weights[token]!;
    if (weight === 0) continue;
    const error = values[token]! - returns[token]!;
    const old = oldValues[token]!;
    const near = clip > 0 ? Math.min(Math.max(values[token]!, old - clip), old + clip) : values[token]!;
    const cutError = near - returns[token]!;
    const free = error ** 2 >= cutError ** 2; // max() picks the free branch
    loss[token] = (weight * (free ? error ** 2 : cutError ** 2)) / 2;
    slope[token] = free ? weight * error : 0;
  }
  return { loss, slope };
}
