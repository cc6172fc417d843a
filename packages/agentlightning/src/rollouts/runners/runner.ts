import type { Failure, JsonObject } from '../../store/types.ts';
import type { ResourceLimits } from '../children/resource-limits.ts';

/** One execution of the agent. The task's private part is not in it: what a runner does not have, it cannot leak. */
export interface AttemptWork {
  runId: string;
  rolloutId: string;
  attemptId: string;
  /** 1 for the first attempt of a rollout. */
  attemptNumber: number;
  input: JsonObject;
  /** The attempt's own variables (design §4), beside those that the agent always has. */
  variables: Readonly<Record<string, string>>;
  /** The attempt's own working directory, absolute; null when attempts share the agent's. */
  workspace: string | null;
  /** Aborted when the attempt is no longer wanted. The runner then ends it as fast as it can. */
  signal: AbortSignal;
  /** Called whenever the agent prints something, by runners that see it. */
  onOutput?: () => void;
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
  /** Absent: agents end with the process that began them. */
  readonly lasting?: LastingAgents;
  close(): Promise<void>;
}

/** Agents that outlive their controller, and are known by their attempt. */
export interface LastingAgents {
  /** What an earlier process began; null when there is nothing of it, or it did not get so far that it ran. */
  find(attemptId: string): Promise<FoundAgent | null>;
  /** The attempt has ended in the store: nothing of its agent is needed any more, and one that still runs is ended. */
  release(attemptId: string): Promise<void>;
  /** Attempts whose agents are there, and which this process neither began nor found. */
  strangers(): Promise<string[]>;
}

export interface FoundAgent {
  /** The attempt's key, which only its agent has. */
  token: string;
  /** As `run`, from where it is; one that has ended tells how, whatever the signal says. */
  follow(signal: AbortSignal): Promise<AgentExit>;
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

export interface KubernetesAgent {
  kubernetes: KubernetesPlace;
  output: 'stdout-last-line' | 'none';
  timeoutSeconds: number;
  graceSeconds: number;
  env?: Readonly<Record<string, string>> | undefined;
}

type Quantities = Readonly<Record<string, string>>;

/** Where and as what the pods of attempts run. */
export interface KubernetesPlace {
  /** Absolute path of a Job in YAML. */
  template?: string | undefined;
  /** With a template: in place of what that says. */
  image?: string | undefined;
  command?: string | string[] | undefined;
  resources?: { requests?: Quantities | undefined; limits?: Quantities | undefined } | undefined;
  namespace?: string | undefined;
  /** Absolute path. */
  kubeconfig?: string | undefined;
  context?: string | undefined;
  /** Of Kueue. */
  queue?: string | undefined;
  queueSeconds: number;
  startSeconds: number;
  /** How long the cluster may look as if a pod would never start, before that is believed. */
  stuckSeconds: number;
}

/** What a function of this process gets beside its task. */
export interface FunctionContext {
  /** As the options of OpenAI's client; the key is valid for this attempt alone. */
  openai: { baseURL: string; apiKey: string };
  /** The same for Anthropic's. */
  anthropic: { baseURL: string; apiKey: string };
  /** Name under which the policy is called. */
  model: string;
  attemptId: string;
  rolloutId: string;
  /** All variables that an agent in a process of its own would have (design §4), and those of `agent.env`. */
  variables: Readonly<Record<string, string>>;
  /** The attempt's own working directory, absolute; null when it has none. */
  workspace: string | null;
  /** Aborted when the attempt's time is over or it is no longer wanted. */
  signal: AbortSignal;
}

/** An agent as a function. A string is its output as it is, anything else becomes JSON. */
export type AgentFunction = (task: JsonObject, context: FunctionContext) => unknown;

export interface FunctionAgent extends AgentOptions {
  run: AgentFunction;
}

/** The configuration's `agent`, without its concurrency. */
export type AgentSpec = FunctionAgent | ModuleAgent | CommandAgent | KubernetesAgent;
