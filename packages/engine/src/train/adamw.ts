export interface AdamWMoments {
  /** Running mean of the gradient. */
  first: Float32Array;
  /** Running mean of its square. */
  second: Float32Array;
}

export interface AdamWUpdate {
  /** 1 for the first update: bias correction depends on it. */
  step: number;
  learningRate: number;
  beta1: number;
  beta2: number;
  eps: number;
  /** Decoupled: scaled by the learning rate, not by the gradient's statistics. 0 for norms. */
  weightDecay: number;
  /** Factor on every gradient entry, from clipping. */
  gradientScale: number;
}

/**
 * One update of AdamW (Loshchilov & Hutter 2019, arXiv 1711.05101, algorithm 2, with its schedule multiplier in `learningRate`),
 * in place. Arithmetic is float64, storage float32.
 */
export function adamWUpdate(
  parameter: Float32Array,
  gradient: Float32Array,
  moments: AdamWMoments,
  update: AdamWUpdate,
): void {
  const { beta1, beta2, eps, gradientScale } = update;
  const { first, second } = moments;
  const stepSize = update.learningRate / (1 - beta1 ** update.step);
  const secondCorrection = 1 / (1 - beta2 ** update.step);
  const kept = 1 - update.learningRate * update.weightDecay;
  for (let i = 0; i < parameter.length; i++) {
    const g = gradient[i]! * gradientScale;
    const m = beta1 * first[i]! + (1 - beta1) * g;
    const v = beta2 * second[i]! + (1 - beta2) * g * g;
    first[i] = m;
    second[i] = v;
    parameter[i] = parameter[i]! * kept - (stepSize * m) / (Math.sqrt(v * secondCorrection) + eps);
  }
}

/** L2 norm over all arrays together, summed in float64. */
export function globalNorm(arrays: Iterable<Float32Array>): number {
  let sum = 0;
  for (const array of arrays) {
    for (let i = 0; i < array.length; i++) sum += array[i]! * array[i]!;
  }
  return Math.sqrt(sum);
}

/** Factor that brings a gradient of this norm down to `maxNorm`; 0 or absent does not clip. */
export function clipScale(norm: number, maxNorm: number | undefined): number {
  return maxNorm === undefined || maxNorm === 0 || norm <= maxNorm ? 1 : maxNorm / norm;
}
