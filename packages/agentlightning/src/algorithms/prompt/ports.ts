import type { Candidate } from './candidate.ts';
import type { RefusalReason } from './proposal.ts';

/** A candidate on a task. */
export interface Trial {
  candidate: Candidate;
  taskId: string;
  /** Held-out tasks confirm a winner and do nothing else. */
  set: 'train' | 'held-out';
}

export interface TrialResult {
  taskId: string;
  /** Null: not graded, because the infrastructure failed. Never 0. */
  reward: number | null;
  /** What a critique model reads of it: the input, what was said and done, the reward, the failure with its class. */
  report: string;
}

export interface Question {
  /** Unlike any other question of the run; the same again after a resume. */
  key: string;
  system: string;
  user: string;
}

/** What a search does to the world. Everything else about it is pure. */
export interface SearchPorts {
  /** In order of the trials; null for one that was not run because the budget is spent. One that was run before is not run again. */
  evaluate(trials: readonly Trial[]): Promise<(TrialResult | null)[]>;
  /** The critique model's answer; null when the budget is spent. */
  ask(question: Question): Promise<string | null>;
  /** An answer that became no candidate. @throws {AgentLightningError} `critique_unusable` after too many in a row */
  refused(reason: RefusalReason, answer: string): void;
  /** A candidate came to be: kept with its lineage, whatever becomes of it. */
  born(candidate: Candidate): Promise<void>;
  /** From 0 to below 1, fixed by the seed and the parts. */
  draw(...parts: (string | number)[]): number;
}

/** The prompts that a search may change. */
export interface PromptRules {
  name: string;
  placeholders: readonly string[];
  maxCharacters: number;
}
