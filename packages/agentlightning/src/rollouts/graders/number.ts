const numberPattern =
  /(?<sign>(?<![\p{L}\d)\]])[-−][$€£¥]?)?(?<mantissa>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?<exponent>[eE][-+]?\d+)?/gu;

/**
 * The last number in a text: `1,234.50`, `-$7`, `1e3`, `.5`. A minus sign after a digit, a letter or a bracket is an operator,
 * and one before a space is a bullet. Commas count as thousands where they group three digits.
 */
export function lastNumber(text: string): number | null {
  const groups = [...text.matchAll(numberPattern)].at(-1)?.groups;
  if (!groups) return null;
  const { sign, mantissa = '', exponent = '' } = groups;
  const value = Number(mantissa.replaceAll(',', '') + exponent);
  if (!Number.isFinite(value)) return null; // 1e999 must not be close to everything
  return sign === undefined ? value : -value;
}

/** Equal up to the rounding of a decimal fraction. */
export function nearlyEqual(a: number, b: number): boolean {
  return Math.abs(a - b) <= Math.max(1e-6, 1e-9 * Math.max(Math.abs(a), Math.abs(b)));
}
