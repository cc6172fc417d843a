import type { Engine } from '../../engines/engine.ts';
import type { Estimate, MetricsEvent, ValidationMetrics } from '../../metrics/metrics.ts';
import type { Store } from '../../store/store.ts';
import type { Checkpoint, JsonObject, RolloutMode, Task } from '../../store/types.ts';
import type { CommonOptions, ModelAnswer, ModelQuestion, StartPrompt } from '../algorithm.ts';
import type { ModelText } from '../model-text.ts';
import type { LoopOptions } from './loop-options.ts';
import type { Best, Spent } from './stop.ts';

export interface RolloutProgress {
  step: number;
  mode: RolloutMode;
  ended: number;
  total: number;
}

export interface RunInput<Options extends CommonOptions = CommonOptions> {
  /** Holds the run already. Somebody else runs a controller on it (see `onReady`): an algorithm only enqueues and waits. */
  store: Store;
  engine: Engine;
  tasks: readonly Task[];
  /** None: no validation. */
  validationTasks: readonly Task[];
  options: Options;
  loop: LoopOptions;
  runId: string;
  seed: number;
  /** Name of the policy that the engine holds; calls that it did not answer are not trained on. */
  policy: string;
  /** Of the configuration. Default: none. */
  prompts?: readonly StartPrompt[];
  /** Default: there is no model beside the policy. */
  ask?: (question: ModelQuestion, signal: AbortSignal) => Promise<ModelAnswer>;
  /** How the policy reads and writes text, for algorithms that learn from what others said. */
  text?: ModelText;
  /** This run's own: old checkpoints in it are deleted. */
  checkpointFolder: string;
  /**
   * Called once, when the weights that the run goes on with are served. Start the controller here: one that runs already
   * would take up the queued rollouts of a killed run with other weights.
   */
  onReady: () => void | Promise<void>;
  metrics: (event: MetricsEvent) => void;
  /** Called as rollouts end, for a progress bar. */
  progress?: (progress: RolloutProgress) => void;
  /** Aborting ends with the signal's reason, after a checkpoint of the last complete step. */
  signal: AbortSignal;
  /** The run's newest checkpoint, to go on from. */
  resume?: Checkpoint;
  /** UTC milliseconds. */
  clock: () => number;
}

export interface RunResult {
  /** The last step that was done. */
  step: number;
  policyVersion: number;
  /** Before the first step and after the last one. */
  firstValidation: ValidationMetrics | null;
  lastValidation: ValidationMetrics | null;
  /** Change of the reward from the first to the last validation, paired by task. */
  gain: Estimate | null;
  /** The checkpoint of the best validation; null when none is kept. */
  best: { step: number; reward: number; path: string } | null;
}

/** Where a run stands between two steps. What a checkpoint must bring back beside the engine's state stands here. */
export interface Position {
  step: number;
  policyVersion: number;
  firstValidation: ValidationMetrics | null;
  /** No step comes after this one. */
  ended: boolean;
  best: Best | null;
  spent: Spent;
  /** The algorithm's own, as of the step. */
  saved: JsonObject | null;
}
