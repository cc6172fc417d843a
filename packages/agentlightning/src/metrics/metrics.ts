/** What a run reports. A sink gets every event in order; a new sink is one file and one line in `sinks.ts`. */

/** A mean with the bounds of its 95 % interval. */
export interface Estimate {
  mean: number;
  low: number;
  high: number;
  count: number;
}

export interface StepMetrics {
  kind: 'step';
  step: number;
  steps: number;
  policyVersion: number;
  /** Mean reward of the step's graded training rollouts; null when none was graded. */
  reward: Estimate | null;
  /** Share of graded rollouts whose reward reaches the success threshold. */
  success: Estimate | null;
  /** Never part of `reward`: mean over the calls of what each automatic rule found, from −1 to 0, before its weight. */
  automatic?: Record<string, number>;
  rollouts: number;
  /** Rollouts without a reward, by failure code; they are masked, never 0. */
  ungraded: Record<string, number>;
  groups: number;
  zeroVarianceGroups: number;
  calls: number;
  trainedCalls: number;
  /** Calls that did not reach the optimiser, by reason. */
  dropped: Record<string, number>;
  sampledTokens: number;
  trainedTokens: number;
  /** Prompt and sampled tokens per second of the whole step. */
  tokensPerSecond: number;
  loss: number | null;
  gradNorm: number | null;
  clipFraction: number | null;
  learningRate: number;
  /** Of imitation: mean cross entropy of examples that are never trained on, nats a token. */
  heldOutLoss?: number;
  /** Of preferences: share of pairs whose better answer the policy prefers more than its reference does, and by how much (nats · β). */
  preference?: { accuracy: number; margin: number };
  /** |log prob recorded at sampling − log prob recomputed for the same weights|, nats. Null when nothing could be compared. */
  mismatch: { max: number; mean: number } | null;
  seconds: { rollouts: number; training: number; total: number };
  secondsLeft: number;
}

export interface ValidationMetrics {
  kind: 'validation';
  step: number;
  policyVersion: number;
  tasks: number;
  rollouts: number;
  reward: Estimate | null;
  success: Estimate | null;
  ungraded: Record<string, number>;
  /** Reward by task id, for paired comparison of two validations. */
  byTask: Record<string, number | null>;
  seconds: number;
}

export interface NoticeMetrics {
  kind: 'notice';
  step: number;
  level: 'info' | 'warning';
  /** Stable code, for instance `no_variance`, `no_trainable_rows`. */
  code: string;
  message: string;
}

export interface CheckpointMetrics {
  kind: 'checkpoint';
  step: number;
  path: string;
}

/** What model calls have used, of agents and critique model together. */
interface SearchFigures {
  /** Rollouts so far, as far as this process has seen them. */
  rollouts: number;
  spent: { calls: number; tokens: number; money: number };
  /** Answers of the critique model that became no candidate, by reason. */
  refused: Record<string, number>;
  /** Rollouts that infrastructure ended, by code. */
  ungraded: Record<string, number>;
}

/** A step of a search for better prompts. */
export interface SearchMetrics extends SearchFigures {
  kind: 'search';
  step: number;
  steps: number;
  /** Mean reward of the best candidate on the tasks of the comparison. */
  best: number | null;
  /** Candidates that are kept. */
  members: number;
  seconds: number;
}

/** What a search for better prompts ended with. */
export interface PromptOutcome extends SearchFigures {
  kind: 'prompts';
  step: number;
  /** Only `improved` has a winner: the interval of its held-out gain is above 0. */
  verdict: 'improved' | 'not_confirmed' | 'too_few_tasks' | 'same' | 'budget_spent';
  ended: 'steps_done' | 'budget_spent' | 'nothing_left_to_improve';
  gain: Estimate | null;
  /** Of the best candidate, those that differ from the start; with their files when they are the winner. */
  prompts: { name: string; version: number; text: string; file: string | null }[];
}

export type MetricsEvent =
  | SearchMetrics
  | PromptOutcome
  | StepMetrics
  | ValidationMetrics
  | NoticeMetrics
  | CheckpointMetrics;

export interface MetricsSink {
  write(event: MetricsEvent): void;
  close(): Promise<void>;
}
