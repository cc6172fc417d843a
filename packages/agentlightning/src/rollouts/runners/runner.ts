import type { Failure, JsonObject } from '../../store/types.ts';
import type { ResourceLimits } from '../children/resource-limits.ts';

/** One execution of the agent. The task's private part is not in it: what a runner does not have, it cannot leak. */
export interface AttemptWork {
  attemptId: string;
  input: JsonObject;
  /** The attempt's own variables (design §4), beside those that the agent always has. */
  variables: Readonly<Record<string, string>>;
  /** The attempt's own working directory, absolute; null when attempts share the agent's. */
  workspace: string | null;
  /** Aborted when the attempt is no longer wanted. The runner then ends it as fast as it can. */
  signal: AbortSignal;
}

/** How the agent ended, and what it left. */
export interface AgentExit {
  /** Null when it ended well. */
  failure: Failure | null;
  /** What it hands to the grader. */
  output: string | null;
  exitCode: number | null;
  /** Last non-blank line of standard output. */
  lastLine: string | null;
  /** End of its output, for people. */
  log: string;
}

/** A way to execute agents. A new one is one file and one line in `runners.ts`. */
export interface Runner {
  readonly name: string;
  /** Values that must not appear in anything that is kept of an agent's output. */
  readonly secrets?: readonly string[];
  /** Ends when the agent and everything it started have ended. Failures of the agent are values; only our own mistakes throw. */
  run(work: AttemptWork): Promise<AgentExit>;
  close(): Promise<void>;
}

interface AgentOptions {
  timeoutSeconds: number;
  env?: Readonly<Record<string, string>> | undefined;
  /** Absolute. */
  cwd?: string | undefined;
}

export interface ModuleAgent extends AgentOptions {
  /** Absolute path. */
  module: string;
  export: string;
}

export interface CommandAgent extends AgentOptions {
  command: string | readonly string[];
  output: 'stdout-last-line' | 'none';
  graceSeconds: number;
  limits?: ResourceLimits | undefined;
}

/** The configuration's `agent`, without its concurrency. */
export type AgentSpec = ModuleAgent | CommandAgent;
