import type { RolloutMode } from '../store/types.ts';

/** What the policy samples with during an attempt, whatever the agent asks for. */
export interface AttemptSampling {
  temperature: number;
  topP: number;
  /** 0 keeps all tokens. */
  topK: number;
  /** Upper bound for one answer. */
  maxTokens?: number;
}

/** What one attempt may use of models; absent ones are not bounded. */
export interface AttemptBudget {
  calls?: number | undefined;
  /** Of prompts and answers together. */
  tokens?: number | undefined;
  /** Wall time from the first call on. */
  seconds?: number | undefined;
}

export interface AttemptSession {
  attemptId: string;
  /** Who holds the attempt's lease. */
  workerId: string;
  rolloutId: string;
  attemptNumber: number;
  mode: RolloutMode;
  /** Seeds the sampling of the attempt's calls. */
  seed: number;
  sampling?: AttemptSampling;
  budget?: AttemptBudget;
  /** False: for its grader, whose calls are not the attempt's. Default true. */
  recorded?: boolean;
}

/** Of one attempt's model calls. */
export interface CallActivity {
  underWay: number;
  /** When one began or ended last, UTC milliseconds. */
  lastAt: number | null;
}

/** The gateway's side of an attempt, as much of it as a controller needs. */
export interface Sessions {
  /** @returns a token that is valid for this attempt until `close` */
  open(session: AttemptSession): string | Promise<string>;
  close(attemptId: string): void | Promise<void>;
  /** Null without an open session. Absent where the gateway is on another machine. */
  activity?(attemptId: string): CallActivity | null;
}
