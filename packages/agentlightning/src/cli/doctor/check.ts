import type { Config } from '../../config/index.ts';

export interface Finding {
  state: 'good' | 'warning' | 'bad' | 'skipped';
  message: string;
  /** What to do about it. */
  hint?: string;
}

export interface Patient {
  config: Config;
  signal: AbortSignal;
}

/** One thing that must be right before a run. A thrown error is a bad finding. */
export interface Check {
  name: string;
  /** Names of checks without which this one makes no sense. */
  needs: readonly string[];
  run(patient: Patient): Promise<Finding | Finding[]>;
}

export const good = (message: string): Finding => ({ state: 'good', message });
export const warning = (message: string, hint?: string): Finding => ({
  state: 'warning',
  message,
  ...(hint === undefined ? {} : { hint }),
});
