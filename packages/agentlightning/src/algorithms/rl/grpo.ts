import { join } from 'node:path';
import { creditAssigner } from '../../samples/index.ts';
import { type AlgorithmContext, defineAlgorithm } from '../algorithm.ts';
import { tasksOfStep } from '../run/tasks.ts';
import { automaticAssigner } from '../turns.ts';
import { type GrpoOptions, grpoOptions } from './options.ts';
import { skipStep } from './skipped.ts';
import { stepMetrics } from './step-metrics.ts';
import { updatePolicy } from './update.ts';

export interface GrpoState {
  /** Steps in a row that had nothing to train on. */
  skippedInRow: number;
}

/** A notice is given when log probs recorded at sampling and recomputed differ by more, nats. */
const mismatchTolerance = 1e-4;

/**
 * Trains a policy in steps: rollouts of some tasks under the current weights, their calls as samples, an update, the
 * new weights served. Synchronous: weights change only while no rollout of the run is open.
 *
 * Throws {AgentLightningError} `nothing_to_train` and `training_diverged`.
 */
export const grpo = defineAlgorithm({
  name: 'grpo',
  summary: 'group-relative policy optimisation (arXiv 2402.03300)',
  options: grpoOptions,

  async setup(context, saved): Promise<GrpoState> {
    if (context.options.kl.coefficient > 0 && saved === null) {
      await context.engine.saveState(referenceFolder(context));
    }
    return { skippedInRow: 0, ...saved };
  },

  async step(context, state, step) {
    const { engine, options, seed, tasks, clock, policyVersion } = context;
    const startedAt = clock();
    const chosen = tasksOfStep({ tasks, seed, tasksPerStep: options.tasksPerStep }, step);
    const episodes = await context.run(context.requests({ step, tasks: chosen, count: options.groupSize }));
    const rolloutsMs = clock() - startedAt;

    const { scaleByStd, advantages: estimator } = options;
    const rules = options.automatic.rules.length > 0 ? { automatic: automaticAssigner(options.automatic, step) } : {};
    const credit = creditAssigner(options.credit);
    const samples = context.samples(episodes, { scaleByStd, estimator, credit, ...rules });
    const trainable = samples.samples.length > 0;
    const work = { engine, samples: samples.samples, options, seed, step, reference: referenceFolder(context) };
    const update = trainable ? await updatePolicy(work) : null;
    if (update) await context.publish(step);
    state.skippedInRow = update ? 0 : state.skippedInRow + 1;

    const times = { rolloutsMs, totalMs: clock() - startedAt, secondsLeft: context.secondsLeft(step) };
    const report = stepMetrics(options, { step, policyVersion, episodes, samples, update, ...times });
    context.metrics(report);
    if (!update) {
      const solved = report.success?.mean === 1;
      const { notice, end } = skipStep({ step, samples, skippedInRow: state.skippedInRow, solved });
      context.metrics(notice);
      return { done: end };
    }
    if (update.mismatch.max > mismatchTolerance) context.metrics(mismatchNotice(step, update.mismatch.max));
    return {};
  },

  save: ({ skippedInRow }) => ({ skippedInRow }),
});

const referenceFolder = ({ folder }: AlgorithmContext<GrpoOptions>): string => join(folder, 'reference');

const mismatchNotice = (step: number, max: number) =>
  ({
    kind: 'notice',
    step,
    level: 'warning',
    code: 'log_prob_mismatch',
    message: `Log probs recorded at sampling and recomputed in training differ by up to ${max.toExponential(1)} nats.`,
  }) as const;
