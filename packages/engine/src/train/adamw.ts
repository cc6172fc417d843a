const { fround } = Math;

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

/** What the update multiplies with: worked out in float64, used in float32. */
export function adamWFactors(update: AdamWUpdate) {
  const { step, learningRate, beta1, beta2, eps, weightDecay, gradientScale } = update;
  return {
    gradientScale: fround(gradientScale),
    beta1: fround(beta1),
    rest1: fround(1 - beta1),
    beta2: fround(beta2),
    rest2: fround(1 - beta2),
    stepSize: fround(learningRate / (1 - beta1 ** step)),
    secondCorrection: fround(1 / (1 - beta2 ** step)),
    eps: fround(eps),
    kept: fround(1 - learningRate * weightDecay),
  };
}

/**
 * One update of AdamW (Loshchilov & Hutter 2019, arXiv 1711.05101, algorithm 2, with its schedule multiplier in `learningRate`),
 * in place and in float32. Every operation is rounded, so that the result is that of the WebAssembly kernel to the bit.
 */
export function adamWPlain(
  parameter: Float32Array,
  gradient: Float32Array,
  { first, second }: AdamWMoments,
  update: AdamWUpdate,
): void {
  const f = adamWFactors(update);
  for (let i = 0; i < parameter.length; i++) {
    const g = fround(gradient[i]! * f.gradientScale);
    const m = fround(fround(f.beta1 * first[i]!) + fround(f.rest1 * g));
    const v = fround(fround(f.beta2 * second[i]!) + fround(fround(f.rest2 * g) * g));
    first[i] = m;
    second[i] = v;
    const spread = fround(fround(Math.sqrt(fround(v * f.secondCorrection))) + f.eps);
    parameter[i] = fround(parameter[i]! * f.kept) - fround(fround(f.stepSize * m) / spread);
  }
}

/** L2 norm over all arrays together, summed in float64. */
export function globalNorm(arrays: Iterable<Float32Array>): number {
  let sum = 0;
  for (const array of arrays) {
    // Four sums at once: a single one would wait for itself.
    let [a, b, c, d] = [0, 0, 0, 0];
    const whole = array.length - (array.length % 4);
    for (let i = 0; i < whole; i += 4) {
      a += array[i]! * array[i]!;
      b += array[i + 1]! * array[i + 1]!;
      c += array[i + 2]! * array[i + 2]!;
      d += array[i + 3]! * array[i + 3]!;
    }
    for (let i = whole; i < array.length; i++) a += array[i]! * array[i]!;
    sum += a + b + (c + d);
  }
  return Math.sqrt(sum);
}

/** Factor that brings a gradient of this norm down to `maxNorm`; 0 or absent does not clip. */
export function clipScale(norm: number, maxNorm: number | undefined): number {
  return maxNorm === undefined || maxNorm === 0 || norm <= maxNorm ? 1 : maxNorm / norm;
}
