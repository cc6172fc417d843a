import type { Run } from './types.ts';

/** Which runs give up what. Running and interrupted runs keep everything: they may go on. */
export interface PruneRules {
  /** Runs that ended longer ago. */
  olderThanMs?: number;
  /** Without these newest ones, however old they are. Default 0. */
  keepRuns?: number;
  /**
   * `calls`: calls with their tokens, and spans; rollouts, attempts, rewards, versions and checkpoints stay.
   * `runs`: everything of the run; its tasks and resources stay, others may use them.
   */
  remove: 'calls' | 'runs';
}

export interface PruneReport {
  /** Runs that something was removed of. */
  runs: number;
  calls: number;
  spans: number;
  /** With `remove: 'runs'`. */
  rollouts: number;
  attempts: number;
  rewards: number;
  annotations: number;
  /** Stay, and no longer say which call they were for. */
  rewardsWithoutCall: number;
}

export function nothingPruned(): PruneReport {
  return { runs: 0, calls: 0, spans: 0, rollouts: 0, attempts: 0, rewards: 0, annotations: 0, rewardsWithoutCall: 0 };
}

/** @param runs newest first */
export function expiredRuns(runs: readonly Run[], { olderThanMs = 0, keepRuns = 0 }: PruneRules, now: number): Run[] {
  return runs.slice(keepRuns).filter(({ state, endedAt }) => {
    return state !== 'running' && endedAt !== null && endedAt <= now - olderThanMs;
  });
}
