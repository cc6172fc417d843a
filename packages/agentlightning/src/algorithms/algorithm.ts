import type { z } from 'zod';
import type { Engine } from '../engines/engine.ts';
import type { MetricsEvent } from '../metrics/metrics.ts';
import type { Episode, SampleSet, SampleSettings } from '../samples/index.ts';
import type { Store } from '../store/store.ts';
import type { JsonObject, RolloutMode, RolloutRequest, Task } from '../store/types.ts';
import type { ModelText } from './model-text.ts';

/** Options that every algorithm has, whatever else it adds. */
export interface CommonOptions {
  /** Steps of a run; `step` may end it earlier. */
  steps: number;
  /** A rollout succeeds when its reward reaches this. Reported, never trained on. */
  successThreshold: number;
}

export interface StepOutcome {
  /** Ends the run with this step. */
  done?: boolean;
}

/** One question to a model beside the policy. */
export interface ModelQuestion {
  /** Alias of the configuration; default: its first model. */
  model?: string;
  system: string;
  user: string;
  temperature: number;
  maxTokens: number;
  seed: number;
}

export interface ModelAnswer {
  /** The alias that answered. */
  model: string;
  text: string;
  promptTokens: number;
  completionTokens: number;
}

/** A prompt of the configuration, as the run began with it. */
export interface StartPrompt {
  name: string;
  template: string;
  placeholders: string[];
  maxCharacters: number | null;
}

/** Which rollouts to ask for: `count` of each task. */
export interface RolloutPlan {
  step: number;
  tasks: readonly Task[];
  count: number;
  /** Default `train`: sampling from the policy as it is. */
  mode?: RolloutMode;
  /** Sets requests of one step apart; each label has its own ids, groups and seeds. */
  label?: string;
}

/** What an algorithm works with. Nothing else is open to those that come with the package. */
export interface AlgorithmContext<Options extends CommonOptions = CommonOptions> {
  readonly runId: string;
  readonly seed: number;
  readonly options: Options;
  readonly tasks: readonly Task[];
  readonly validationTasks: readonly Task[];
  readonly store: Store;
  /** Name of the policy that is trained; calls that it did not answer are not trained on. */
  readonly policy: string;
  /** The version of it that is served now. */
  readonly policyVersion: number;
  /** Those of the configuration. */
  readonly prompts: readonly StartPrompt[];
  /** Attempts of a rollout that fails through no fault of the agent. */
  readonly maxAttempts: number;
  /** Holds the policy's weights. */
  readonly engine: Engine;
  /** How the policy reads and writes text; null where nobody tells. */
  readonly text: ModelText | null;
  /** The run's own, kept with its checkpoints. */
  readonly folder: string;
  /** Aborted when the run shall end: everything that waits here rejects with its reason. */
  readonly signal: AbortSignal;
  /** UTC milliseconds. */
  readonly clock: () => number;

  /** Requests whose ids, groups and seeds follow from run, step, task and number, so that asking twice is asking once. */
  requests(plan: RolloutPlan): RolloutRequest[];
  /** Has rollouts run and reads back what they left, in the order of the requests. */
  run(requests: readonly RolloutRequest[]): Promise<Episode[]>;
  /** The first half of `run`: returns the ids of the rollouts, which may differ from the requests' after a resume. */
  enqueue(requests: readonly RolloutRequest[]): Promise<string[]>;
  /** The second half of `run`. */
  wait(ids: readonly string[]): Promise<Episode[]>;
  /** Training rows of what the policy's present version did in `episodes`, and a reason for every call that is in none. */
  samples(episodes: readonly Episode[], settings?: SampleSettings): SampleSet;
  /** Serves the engine's weights as the next version of the policy. Returns its number. */
  publish(step: number): Promise<number>;
  /**
   * Asks a frozen model of the configuration. It is not recorded as a call of an attempt.
   * @throws {UserError} `model_unknown`; {UpstreamError} when it does not answer
   */
  ask(question: ModelQuestion): Promise<ModelAnswer>;
  metrics(event: MetricsEvent): void;
  /** Seconds that the steps after this one take at the pace so far. */
  secondsLeft(step: number): number;
}

/** A strict object with a default for every field, `steps` and `successThreshold` among them: extend `commonOptions`. */
export type OptionsSchema = z.ZodObject<
  { steps: z.ZodType<number, number | undefined>; successThreshold: z.ZodType<number, number | undefined> },
  z.core.$ZodObjectConfig
>;

/**
 * How a resource gets better from what agents do. `setup` runs once in each process; then come the steps, counted from
 * 1, with validations and checkpoints between them; then `finish`.
 */
export interface Algorithm<
  Schema extends OptionsSchema = OptionsSchema,
  State = unknown,
  Name extends string = string,
> {
  name: Name;
  /** One line. */
  summary: string;
  options: Schema;
  /**
   * Default `weights`. With `prompts` there need not be a policy, and the held-out tasks are left to the algorithm: there
   * are no validations between its steps.
   */
  trains?: 'weights' | 'prompts';
  /** @param saved what `save` gave for the checkpoint that the run goes on from; null at its begin */
  setup(context: AlgorithmContext<z.output<Schema>>, saved: JsonObject | null): State | Promise<State>;
  step(context: AlgorithmContext<z.output<Schema>>, state: State, step: number): Promise<StepOutcome>;
  /** What of the state a checkpoint must bring back, besides the engine's. Default: nothing. */
  save?(state: State): JsonObject;
  /** After the last step and its validation. */
  finish?(context: AlgorithmContext<z.output<Schema>>, state: State): Promise<void>;
}

/** For `export const algorithm = defineAlgorithm({…})`: infers the types, changes nothing. */
export function defineAlgorithm<Schema extends OptionsSchema, State, const Name extends string>(
  algorithm: Algorithm<Schema, State, Name>,
): Algorithm<Schema, State, Name> {
  return algorithm;
}
