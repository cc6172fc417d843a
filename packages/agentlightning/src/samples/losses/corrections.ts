import { assertSameLength, sumLogRatio } from './row.ts';

/** What the trainer and the sampler say about the same tokens under the same weights; nats, one length. */
export interface MismatchRow {
  /** By the trainer. */
  logProbs: ArrayLike<number>;
  /** Recorded at sampling. */
  sampledLogProbs: ArrayLike<number>;
  /** 0 masks a token. */
  weights: ArrayLike<number>;
}

export interface CorrectionBounds {
  /** Largest ratio. */
  cap: number;
  /** Smallest ratio, where there is one. */
  floor: number;
}

interface Correction {
  name: string;
  summary: string;
  /** Factors of the loss, from the ratio of each token and of the sequence; they carry no gradient. */
  factor: (ratios: { token: number; sequence: number; mean: number }, bounds: CorrectionBounds) => number;
}

const within = (ratio: number, { floor, cap }: CorrectionBounds): boolean => ratio >= floor && ratio <= cap;

/**
 * Ways to weigh tokens whose sampler computed other log probs than the trainer does; ρ = trainer ÷ sampler. Truncated
 * importance sampling (TIS): Yao et al. 2025. Sequence mask: Liu & Li 2025. Token mask: IcePop, Ling team 2025.
 */
export const corrections = [
  { name: 'none', summary: '1', factor: () => 1 },
  { name: 'token-tis', summary: 'min(ρ, cap)', factor: ({ token }, { cap }) => Math.min(token, cap) },
  { name: 'sequence-tis', summary: 'min(Πρ, cap)', factor: ({ sequence }, { cap }) => Math.min(sequence, cap) },
  {
    name: 'token-mask',
    summary: 'ρ from floor to cap, else 0',
    factor: ({ token }, bounds) => (within(token, bounds) ? token : 0),
  },
  {
    name: 'sequence-mask',
    summary: 'Πρ up to cap, else 0',
    factor: ({ sequence }, { cap }) => (sequence <= cap ? sequence : 0),
  },
  {
    name: 'geometric-mask',
    summary: '1 while the geometric mean of ρ is from floor to cap, else 0',
    factor: ({ mean }, bounds) => (within(mean, bounds) ? 1 : 0),
  },
] as const satisfies readonly Correction[];

export type CorrectionName = (typeof corrections)[number]['name'];

/**
 * Factor of each token's loss; 0 where it is masked.
 * @throws {AgentLightningError} `shape_mismatch` when the arrays differ in length
 */
export function mismatchFactors(row: MismatchRow, name: CorrectionName, bounds: CorrectionBounds): Float64Array {
  const { logProbs, sampledLogProbs, weights } = row;
  assertSameLength(logProbs, { sampledLogProbs, weights });
  const { sum, count } = sumLogRatio(logProbs, sampledLogProbs, weights);
  const sequence = Math.exp(sum);
  const mean = count === 0 ? 1 : Math.exp(sum / count);
  const { factor }: Correction = corrections.find((correction) => correction.name === name)!;
  return Float64Array.from(weights, (weight, at) =>
    weight === 0 ? 0 : factor({ token: Math.exp(logProbs[at]! - sampledLogProbs[at]!), sequence, mean }, bounds),
  );
}
