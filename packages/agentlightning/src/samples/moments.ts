export interface Moments {
  count: number;
  mean: number;
  /** Sample standard deviation (divisor n − 1); 0 for fewer than two values. */
  std: number;
}

/** Beyond this, squares would overflow float64. Rewards of such a size are mistakes, but must not stop a run. */
const magnitudeLimit = 1e100;

/** A reward as every statistic takes it: cut to ±1e100. */
export const bounded = (value: number): number => Math.min(Math.max(value, -magnitudeLimit), magnitudeLimit);

/** Mean and sample standard deviation in float64, in two passes, so that a large common offset costs no digits. */
export function moments(values: readonly number[]): Moments {
  const count = values.length;
  if (count === 0) return { count, mean: 0, std: 0 };
  const mean = values.reduce((sum, value) => sum + bounded(value), 0) / count;
  const squares = values.reduce((sum, value) => sum + (bounded(value) - mean) ** 2, 0);
  return { count, mean, std: count > 1 ? Math.sqrt(squares / (count - 1)) : 0 };
}
