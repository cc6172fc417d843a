/** 0.975 quantile of the standard normal distribution. */
export const normalQuantile = 1.959963984540054;

/**
 * P(|T| ≤ √n · tan θ) for Student's t with n degrees of freedom: the finite sums of Abramowitz and Stegun, Handbook of
 * Mathematical Functions (1964), 26.7.3 for odd and 26.7.4 for even n.
 */
function coverage(theta: number, n: number): number {
  const square = Math.cos(theta) ** 2;
  const odd = n % 2 === 1;
  let term = odd ? Math.cos(theta) : 1;
  let sum = n === 1 ? 0 : term;
  for (let power = odd ? 3 : 2; power <= n - 2; power += 2) {
    term *= ((power - 1) / power) * square;
    sum += term;
  }
  return odd ? (theta + Math.sin(theta) * sum) * (2 / Math.PI) : Math.sin(theta) * sum;
}

/**
 * The 0.975 quantile of Student's t distribution: half the width of a two-sided 95 % interval, in standard errors.
 *
 * @param degreesOfFreedom a whole number from 1
 */
export function studentT975(degreesOfFreedom: number): number {
  const n = degreesOfFreedom;
  if (n > 1000) {
    // First terms of the expansion around the normal quantile (26.7.5): right to 1e-8 here, where the sums grow long.
    const z = normalQuantile;
    return z + (z ** 3 + z) / (4 * n) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * n ** 2);
  }
  let low = 0;
  let high = Math.PI / 2;
  for (let halvings = 0; halvings < 52; halvings += 1) {
    const middle = (low + high) / 2;
    if (coverage(middle, n) < 0.95) low = middle;
    else high = middle;
  }
  return Math.sqrt(n) * Math.tan(low);
}
