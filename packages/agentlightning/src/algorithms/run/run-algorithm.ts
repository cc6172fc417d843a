import type { z } from 'zod';
import { pairedDifference } from '../../samples/index.ts';
import type { Algorithm, OptionsSchema } from '../algorithm.ts';
import { checkpointPath, restoreCheckpoint, saveCheckpoint } from './checkpoints.ts';
import { createContext } from './context.ts';
import { allTasks } from './requests.ts';
import type { Position, RunInput, RunResult } from './run.ts';
import { betterOf, reasonToStop } from './stop.ts';
import { validate } from './validation.ts';

/**
 * Runs an algorithm from its first step, or from the one after a checkpoint, to its last, with validations and
 * checkpoints between the steps. Docs: docs/algorithms.md.
 *
 * @throws the signal's reason when aborted; {UserError} for input that nothing can be learned from;
 *   {AgentLightningError} `checkpoint_failed`, and what the algorithm throws
 */
export async function runAlgorithm<Schema extends OptionsSchema, State>(
  algorithm: Algorithm<Schema, State>,
  input: RunInput<z.output<Schema>>,
): Promise<RunResult> {
  const { store, options, loop, metrics, signal } = input;
  await store.putTasks(allTasks(input));
  const position = input.resume ? await restoreCheckpoint(input, input.resume) : await begin(input);
  const { context, midStep, stepEnded } = createContext(input, position);
  let lastStep = position.ended ? position.step : options.steps;
  let savedStep = position.step;
  let lastValidation = position.firstValidation;

  const checkpoint = async () => {
    await saveCheckpoint(input, position);
    savedStep = position.step;
  };
  const validateWhenDue = async () => {
    if (algorithm.trains === 'prompts' || !validationDue(input, position.step, lastStep)) return;
    lastValidation = await validate(context, { step: position.step, loop });
    position.best = betterOf(position.best, lastValidation, loop.stop.minGain);
    if (position.step === 0) position.firstValidation = lastValidation;
    metrics(lastValidation);
  };

  const state = await algorithm.setup(context, position.saved);
  if (!input.resume) await checkpoint();
  await input.onReady();
  try {
    await validateWhenDue();

    while (position.step < lastStep) {
      signal.throwIfAborted();
      const step = position.step + 1;
      const { done = false } = await algorithm.step(context, state, step);
      position.step = step;
      position.saved = algorithm.save?.(state) ?? null;
      stepEnded();
      const stop = step < lastStep ? reasonToStop(loop.stop, position) : null;
      if (stop !== null) metrics(stop);
      position.ended = done || stop !== null;
      if (position.ended) lastStep = step;

      // A validation belongs to the weights of its step, so these must be the ones that a resumed run starts from.
      if (checkpointDue(input, step, lastStep) || validationDue(input, step, lastStep)) await checkpoint();
      await validateWhenDue();
    }
    await algorithm.finish?.(context, state);
  } catch (error) {
    // Only waiting can be aborted, but an engine that is being closed may fail within an update: its weights are not kept.
    if (signal.aborted && !midStep() && position.step > savedStep) await checkpoint();
    throw error;
  }

  const { step, policyVersion, firstValidation, best } = position;
  const gain =
    firstValidation && lastValidation ? pairedDifference(firstValidation.byTask, lastValidation.byTask) : null;
  const kept = best && loop.keepBest ? { ...best, path: checkpointPath(input.checkpointFolder, best.step) } : null;
  return { step, policyVersion, firstValidation, lastValidation, gain, best: kept };
}

/** Serves the weights as they are, as version 0. */
async function begin({ engine }: RunInput): Promise<Position> {
  await engine.publish(0);
  return {
    step: 0,
    policyVersion: 0,
    firstValidation: null,
    ended: false,
    best: null,
    spent: { seconds: 0, tokens: 0 },
    saved: null,
  };
}

const checkpointDue = ({ loop }: RunInput, step: number, lastStep: number): boolean =>
  step % loop.checkpointEvery === 0 || step >= lastStep;

/** Before the first step, after the last one, and on schedule between. */
function validationDue({ loop, validationTasks }: RunInput, step: number, lastStep: number): boolean {
  if (validationTasks.length === 0) return false;
  return step === 0 || step >= lastStep || (loop.validateEvery > 0 && step % loop.validateEvery === 0);
}
