import { AgentLightningError } from '../../errors.ts';
import type { Failure, Json, JsonObject } from '../../store/types.ts';

/** One model call of the attempt, for graders that look at the way and not only at the answer. */
export interface CallSummary {
  agentName: string | null;
  model: string;
  /** Of each choice. */
  texts: string[];
  finishReasons: string[];
  promptTokens: number | null;
  sampledTokens: number;
  error: string | null;
}

/** The models behind the gateway, for as long as it is not closed; calls by it leave no record of their own. */
export interface ModelAccess {
  /** Without `/v1`. */
  baseUrl: string;
  token: string;
  close(): Promise<void>;
}

export interface GradeRequest {
  attemptId: string;
  task: { id: string; input: JsonObject; private: JsonObject };
  /** What the agent handed in; null when it handed in nothing. */
  output: string | null;
  /** Set when the agent failed by its own doing: its reward counts all the same. */
  failure: Failure | null;
  /** What the agent left of its working directory, absolute; null when attempts have none of their own. */
  workspace: string | null;
  /** Only for graders that ask for it. */
  calls: CallSummary[];
  openModel(): Promise<ModelAccess>;
  /** Keeps a note with the attempt. */
  annotate(key: string, value: JsonObject): Promise<void>;
  signal: AbortSignal;
}

/** Judges an attempt, outside the agent's process and after the agent has ended. */
export interface Grader {
  readonly name: string;
  readonly wantsCalls: boolean;
  /**
   * @returns the reward, or null when there is none
   * @throws {GraderError}
   */
  grade(request: GradeRequest): Promise<number | null>;
  close(): Promise<void>;
}

/** Who judges: a grader, the agent by what it reports, or the last line of its standard output. */
export type RewardSource = { grader: Grader } | { rewardFrom: 'agent' | 'stdout' };

/** The grader itself failed, which says nothing about the agent. */
export class GraderError extends AgentLightningError {
  declare readonly code: 'grader_crash' | 'grader_timeout' | 'grader_not_finite' | 'grader_changed';
  /** End of the grader's output. */
  readonly log: string;

  constructor(code: GraderError['code'], message: string, log = '') {
    super({ code, message, hint: 'Mend the grader (grader: … in the configuration).' });
    this.log = log;
  }
}

/** A private field without which a grader cannot work; the task file is checked for it before anything runs. */
export interface GraderRequirement {
  field: string;
  grader: string;
  check?: (value: Json) => string | null;
}
