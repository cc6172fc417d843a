import { setTimeout as sleep } from 'node:timers/promises';

export interface Backoff {
  firstMs: number;
  maxMs: number;
}

/** Waits before attempt `number + 1`: doubled each time, half of it random, so that many rollouts do not return at once. */
export async function waitBeforeRetry(number: number, { firstMs, maxMs }: Backoff, signal: AbortSignal): Promise<void> {
  const full = Math.min(maxMs, firstMs * 2 ** (number - 1));
  // An abort only cuts the wait short: the retry is still recorded.
  await sleep(full / 2 + (full / 2) * Math.random(), undefined, { signal }).catch(() => undefined);
}
