import type { Failure } from '../store/types.ts';

export interface CircuitBreaker {
  /**
   * Counts an ended attempt. When the first `limit` of a run all failed with one code, returns true, once.
   * One attempt that ended otherwise closes the question for that run: what works now and then is no wrong set-up.
   */
  record(runId: string, failure: Failure | null): boolean;
}

export function createCircuitBreaker(limit: number): CircuitBreaker {
  const runs = new Map<string, { code: string; count: number } | 'settled'>();
  return {
    record(runId, failure) {
      const seen = runs.get(runId);
      if (seen === 'settled') return false;
      if (failure === null || (seen !== undefined && seen.code !== failure.code)) {
        runs.set(runId, 'settled');
        return false;
      }
      const count = (seen?.count ?? 0) + 1;
      runs.set(runId, count >= limit ? 'settled' : { code: failure.code, count });
      return count >= limit;
    },
  };
}
