import type { Engine } from '../../engines/engine.ts';
import type { Estimate, MetricsEvent, ValidationMetrics } from '../../metrics/metrics.ts';
import type { Store } from '../../store/store.ts';
import type { Checkpoint, RolloutMode, Task } from '../../store/types.ts';
import type { GrpoOptions, LoopOptions } from './options.ts';

export interface RolloutProgress {
  step: number;
  mode: RolloutMode;
  ended: number;
  total: number;
}

export interface TrainInput {
  /** Holds the run already. Somebody else runs a controller on it (see `onReady`): training only enqueues and waits. */
  store: Store;
  engine: Engine;
  tasks: readonly Task[];
  /** None: no validation. */
  validationTasks: readonly Task[];
  options: GrpoOptions;
  loop: LoopOptions;
  runId: string;
  seed: number;
  /** Name of the policy that the engine holds; calls that it did not answer are not trained on. */
  policy: string;
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

export interface TrainResult {
  /** The last step that was done. */
  step: number;
  policyVersion: number;
  /** Before the first step and after the last one. */
  firstValidation: ValidationMetrics | null;
  lastValidation: ValidationMetrics | null;
  /** Change of the reward from the first to the last validation, paired by task. */
  gain: Estimate | null;
}

/** Where a run stands between two steps. What a checkpoint must bring back beside the engine's state stands here. */
export interface Position {
  step: number;
  policyVersion: number;
  /** Steps in a row that had nothing to train on. */
  skippedInRow: number;
  firstValidation: ValidationMetrics | null;
}
