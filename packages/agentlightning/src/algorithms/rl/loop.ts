import { join } from 'node:path';
import { buildSamples, creditAssigner, pairedDifference } from '../../samples/index.ts';
import { restoreCheckpoint, saveCheckpoint } from './checkpoints.ts';
import { assertFirstBatchUsable } from './first-batch.ts';
import { allTasks, trainingRequests } from './plan.ts';
import { runRollouts } from './rollouts.ts';
import type { Position, TrainInput, TrainResult } from './run.ts';
import { skipStep } from './skipped.ts';
import { stepMetrics } from './step-metrics.ts';
import { updatePolicy } from './update.ts';
import { validate } from './validation.ts';

/**
 * Trains a policy in steps: rollouts of some tasks under the current weights, their calls as samples, an update, the
 * new weights served. Synchronous: weights change only while no rollout of the run is open. Docs: docs/algorithms.md.
 *
 * @throws the signal's reason when aborted; {UserError} for input that nothing can be learned from;
 *   {AgentLightningError} `nothing_to_train`, `training_diverged`, `checkpoint_failed`
 */
export async function trainPolicy(input: TrainInput): Promise<TrainResult> {
  const { store, engine, options, loop, runId, policy, metrics, signal, clock, seed } = input;
  await store.putTasks(allTasks(input));

  const position = input.resume ? await restoreCheckpoint(input, input.resume) : await begin(input);
  const firstStep = position.step + 1;
  const beganAt = clock();
  let savedStep = position.step;
  let lastStep = options.steps;
  let updating = false;
  let untried = position.step === 0;
  let lastValidation = position.firstValidation;

  const checkpoint = async () => {
    await saveCheckpoint(input, position);
    savedStep = position.step;
  };
  const validateWhenDue = async () => {
    if (!validationDue(input, position.step, lastStep)) return;
    const { metrics: validation, episodes } = await validate(input, position);
    if (untried) assertFirstBatchUsable(episodes);
    untried = false;
    lastValidation = validation;
    if (position.step === 0) position.firstValidation = validation;
    metrics(validation);
  };

  await input.onReady();
  try {
    await validateWhenDue();

    for (let step = firstStep; step <= lastStep; step += 1) {
      signal.throwIfAborted();
      const startedAt = clock();
      const { policyVersion } = position;
      const episodes = await runRollouts(input, trainingRequests(input, step));
      const rolloutsMs = clock() - startedAt;
      if (untried) assertFirstBatchUsable(episodes);
      untried = false;

      const { maxTokens } = engine.info();
      const { scaleByStd, advantages: estimator } = options;
      const credit = creditAssigner(options.credit);
      const samples = buildSamples(episodes, { policy, policyVersion, maxTokens, scaleByStd, estimator, credit });

      updating = true;
      const trainable = samples.samples.length > 0;
      const work = { engine, samples: samples.samples, options, seed, step, reference: referenceFolder(input) };
      const update = trainable ? await updatePolicy(work) : null;
      if (update) {
        position.policyVersion += 1;
        await engine.publish(position.policyVersion);
        await store.addPolicyVersion({ policy, version: position.policyVersion, runId, step, path: null });
      }
      position.step = step;
      position.skippedInRow = update ? 0 : position.skippedInRow + 1;
      updating = false;

      const now = clock();
      const times = { rolloutsMs, totalMs: now - startedAt, meanStepMs: (now - beganAt) / (step - firstStep + 1) };
      const report = stepMetrics(input, { step, policyVersion, episodes, samples, update, ...times });
      metrics(report);
      if (!update) {
        const solved = report.success?.mean === 1;
        const { notice, end } = skipStep({ step, samples, skippedInRow: position.skippedInRow, solved });
        metrics(notice);
        if (end) lastStep = step;
      } else if (update.mismatch.max > loop.mismatchTolerance) {
        metrics(mismatchNotice(step, update.mismatch.max));
      }

      // A validation belongs to the weights of its step, so these must be the ones that a resumed run starts from.
      if (checkpointDue(input, step, lastStep) || validationDue(input, step, lastStep)) await checkpoint();
      await validateWhenDue();
    }
  } catch (error) {
    // Only waiting can be aborted, but an engine that is being closed may fail within an update: its weights are not kept.
    if (signal.aborted && !updating && position.step > savedStep) await checkpoint();
    throw error;
  }

  const { step, policyVersion, firstValidation } = position;
  const gain =
    firstValidation && lastValidation ? pairedDifference(firstValidation.byTask, lastValidation.byTask) : null;
  return { step, policyVersion, firstValidation, lastValidation, gain };
}

/** Serves the weights as they are, as version 0, and keeps them: a run killed before its first checkpoint has one. */
async function begin(input: TrainInput): Promise<Position> {
  const position: Position = { step: 0, policyVersion: 0, skippedInRow: 0, firstValidation: null };
  await input.engine.publish(0);
  if (input.options.kl.coefficient > 0) await input.engine.saveState(referenceFolder(input));
  await saveCheckpoint(input, position);
  return position;
}

const referenceFolder = ({ checkpointFolder }: TrainInput): string => join(checkpointFolder, 'reference');

const checkpointDue = ({ loop }: TrainInput, step: number, lastStep: number): boolean =>
  step % loop.checkpointEvery === 0 || step >= lastStep;

/** Before the first step, after the last one, and on schedule between. */
function validationDue({ loop, validationTasks }: TrainInput, step: number, lastStep: number): boolean {
  if (validationTasks.length === 0) return false;
  return step === 0 || step >= lastStep || (loop.validateEvery > 0 && step % loop.validateEvery === 0);
}

const mismatchNotice = (step: number, max: number) =>
  ({
    kind: 'notice',
    step,
    level: 'warning',
    code: 'log_prob_mismatch',
    message: `Log probs recorded at sampling and recomputed in training differ by up to ${max.toExponential(1)} nats.`,
  }) as const;
