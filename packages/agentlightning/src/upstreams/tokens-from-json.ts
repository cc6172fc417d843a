/** Members of a server's JSON, which may hold anything. */
export function numbersOf(value: unknown): number[] | null {
  return Array.isArray(value) && value.every((item): item is number => Number.isInteger(item)) ? value : null;
}

/** Log probs as they were told; NaN where one is missing, so that it is never taken for a number. */
export function logProbsOf(value: unknown): number[] {
  return Array.isArray(value) ? value.map((item: unknown) => logProbOf(item)) : [];
}

/** vLLM writes −9999 where the log prob is −∞, and a sampled token's cannot be. */
export function logProbOf(value: unknown): number {
  return typeof value === 'number' && value > -9999 ? value : Number.NaN;
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
