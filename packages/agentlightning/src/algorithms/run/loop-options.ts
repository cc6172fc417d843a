import type { StopOptions } from './stop.ts';

/** What surrounds the steps: the same for every algorithm. */
export interface LoopOptions {
  /** Validate each so many steps, besides before the first and after the last; 0: only those two. */
  validateEvery: number;
  rolloutsPerValidationTask: number;
  checkpointEvery: number;
  /** Newest checkpoints that are kept; at least 1. */
  keepCheckpoints: number;
  /** Keep the checkpoint of the best validation, too. */
  keepBest: boolean;
  stop: StopOptions;
  /** Attempts of a rollout whose attempts are ended by infrastructure. */
  maxAttempts: number;
}

export const loopDefaults: LoopOptions = {
  validateEvery: 0,
  rolloutsPerValidationTask: 1,
  checkpointEvery: 10,
  keepCheckpoints: 3,
  keepBest: false,
  stop: { afterSeconds: 0, afterTokens: 0, patience: 0, minGain: 0 },
  maxAttempts: 3,
};
