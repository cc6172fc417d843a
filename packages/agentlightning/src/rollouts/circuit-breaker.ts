import type { Failure } from '../store/types.ts';

export interface CircuitBreaker {
  /**
   * Counts an ended attempt. Returns how many attempts in a row have failed with one code when that is reason to stop:
   * the first `limit` of a run, because the set-up is wrong then; later, 8 × `limit` failures of the infrastructure,
   * because something has broken that retries do not mend. Else null. Tells each such row once.
   */
  record(runId: string, failure: Failure | null): number | null;
}

interface Row {
  code: string;
  count: number;
  /** It began with the run's first attempt. */
  first: boolean;
}

export function createCircuitBreaker(limit: number): CircuitBreaker {
  const rows = new Map<string, Row | 'unbroken'>();
  return {
    record(runId, failure) {
      const seen = rows.get(runId);
      if (failure === null) {
        rows.set(runId, 'unbroken');
        return null;
      }
      const row =
        typeof seen === 'object' && seen.code === failure.code
          ? { ...seen, count: seen.count + 1 }
          : { code: failure.code, count: 1, first: seen === undefined };
      rows.set(runId, row);
      const broken =
        (row.first && row.count === limit) || (failure.class === 'infrastructure' && row.count === 8 * limit);
      return broken ? row.count : null;
    },
  };
}
