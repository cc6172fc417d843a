import { assertSameLength } from './row.ts';

/** One side of a pair: log probs of its row in nats, under the trained weights and under the reference. */
export interface PreferenceRow {
  logProbs: ArrayLike<number>;
  referenceLogProbs: ArrayLike<number>;
  /** 0 masks a token; others count fully. */
  mask: ArrayLike<number>;
}

export interface PreferenceOptions {
  /**
   * - `sigmoid`: −ln σ(βΔ), DPO (arXiv 2305.18290, eq. 7), with label smoothing as in Mitchell's conservative DPO (2023).
   * - `ipo`: (Δ − 1/(2β))², arXiv 2310.12036, eq. 17, on sums of log probs as in the paper.
   * - `hinge`: max(0, 1 − βΔ), SLiC (arXiv 2305.10425).
   */
  variant: PreferenceVariant;
  beta: number;
  /** `sigmoid`: how probable it is that a pair is the wrong way round, from 0 up to 0.5. */
  labelSmoothing: number;
  /** Adds so many times the mean cross entropy of the chosen answer, as in RPO (arXiv 2404.19733, eq. 1). */
  imitation: number;
}

export const preferenceVariants = ['sigmoid', 'ipo', 'hinge'] as const;
export type PreferenceVariant = (typeof preferenceVariants)[number];

export interface PreferenceLoss {
  /** Of the pair, to be minimised. */
  loss: number;
  /** ∂loss/∂ln p of each token: its negative is the coefficient for any engine. */
  slopes: { chosen: Float64Array; rejected: Float64Array };
  /** β · ln(p/p_reference), summed over tokens: the reward that the policy implies. */
  rewards: { chosen: number; rejected: number };
}

/**
 * Loss of a preference pair in closed form: Δ is how much more than the reference the policy prefers the chosen answer, and
 * ∂Δ/∂ln p is 1 for its tokens and −1 for those of the rejected one.
 *
 * @throws {AgentLightningError} `shape_mismatch` when the arrays of a row differ in length
 */
export function preferenceLoss(
  { chosen, rejected }: { chosen: PreferenceRow; rejected: PreferenceRow },
  options: PreferenceOptions,
): PreferenceLoss {
  const { beta, imitation } = options;
  const ratios = { chosen: logRatio(chosen), rejected: logRatio(rejected) };
  const { loss, slope } = terms(ratios.chosen - ratios.rejected, options);
  const tokens = count(chosen.mask);
  const imitated = imitation === 0 || tokens === 0 ? 0 : imitation / tokens;
  let crossEntropy = 0;
  for (let at = 0; at < chosen.mask.length; at += 1) if (chosen.mask[at] !== 0) crossEntropy -= chosen.logProbs[at]!;
  return {
    loss: loss + imitated * crossEntropy,
    slopes: {
      chosen: Float64Array.from(chosen.mask, (used) => (used === 0 ? 0 : slope - imitated)),
      rejected: Float64Array.from(rejected.mask, (used) => (used === 0 ? 0 : -slope)),
    },
    rewards: { chosen: beta * ratios.chosen, rejected: beta * ratios.rejected },
  };
}

function logRatio({ logProbs, referenceLogProbs, mask }: PreferenceRow): number {
  assertSameLength(logProbs, { referenceLogProbs, mask });
  let sum = 0;
  for (let at = 0; at < mask.length; at += 1) if (mask[at] !== 0) sum += logProbs[at]! - referenceLogProbs[at]!;
  return sum;
}

const count = (mask: ArrayLike<number>): number => Array.from(mask).filter((used) => used !== 0).length;

/** Loss and its derivative with respect to Δ. */
function terms(delta: number, { variant, beta, labelSmoothing }: PreferenceOptions): { loss: number; slope: number } {
  switch (variant) {
    case 'sigmoid': {
      const wrong = sigmoid(-beta * delta);
      const loss = (1 - labelSmoothing) * softplus(-beta * delta) + labelSmoothing * softplus(beta * delta);
      return { loss, slope: beta * (labelSmoothing * (1 - wrong) - (1 - labelSmoothing) * wrong) };
    }
    case 'ipo': {
      const distance = delta - 1 / (2 * beta);
      return { loss: distance ** 2, slope: 2 * distance };
    }
    case 'hinge':
      return beta * delta < 1 ? { loss: 1 - beta * delta, slope: -beta } : { loss: 0, slope: 0 };
    default:
      return variant satisfies never;
  }
}

/** ln(1 + e^x), which is −ln σ(−x), without overflow. */
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

function sigmoid(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}
