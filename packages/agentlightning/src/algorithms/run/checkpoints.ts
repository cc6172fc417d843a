import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentLightningError } from '../../errors.ts';
import type { Checkpoint, JsonObject } from '../../store/types.ts';
import type { Position, RunInput } from './run.ts';

const stepFolder = /^step-(\d{6,})$/;

/**
 * Saves engine and position, tells the store, and only then deletes old checkpoints: a kill at any moment leaves the
 * checkpoint that the store names whole. The policy version gets its path in the store's same transaction.
 *
 * @throws {AgentLightningError} `checkpoint_failed`
 */
export async function saveCheckpoint(input: RunInput, position: Position): Promise<void> {
  const { store, engine, runId, policy, checkpointFolder, loop, metrics } = input;
  const { step, policyVersion, firstValidation, ended, best, spent, saved } = position;
  const path = checkpointPath(checkpointFolder, step);
  try {
    await mkdir(checkpointFolder, { recursive: true });
    await engine.saveState(path);
  } catch (cause) {
    throw new AgentLightningError({
      code: 'checkpoint_failed',
      message: `The checkpoint of step ${step} could not be written to ${path}: ${cause instanceof Error ? cause.message : cause}`,
      hint: 'Make room or choose another checkpoints.folder, then go on from the last checkpoint with `agl resume`.',
      cause,
    });
  }
  const state: JsonObject = JSON.parse(JSON.stringify({ firstValidation, ended, best, spent, saved }));
  await store.saveCheckpoint({ runId, step, path, policy, policyVersion, state });
  metrics({ kind: 'checkpoint', step, path });
  await deleteCheckpoints(checkpointFolder, (steps) =>
    steps.slice(0, -Math.max(1, loop.keepCheckpoints)).filter((old) => !loop.keepBest || old !== best?.step),
  );
}

export const checkpointPath = (folder: string, step: number): string =>
  join(folder, `step-${String(step).padStart(6, '0')}`);

/**
 * Brings engine, served weights and store back to a checkpoint. The rollouts of the step after it were sampled under
 * its weights and stay; later ones are superseded. Checkpoint folders that the store never heard of are deleted.
 */
export async function restoreCheckpoint(input: RunInput, checkpoint: Checkpoint): Promise<Position> {
  const { store, engine, runId, policy, checkpointFolder, metrics } = input;
  const { step, path, policyVersion } = checkpoint;
  await engine.loadState(path);
  await engine.publish(policyVersion);
  await store.addPolicyVersion({ policy, version: policyVersion, runId, step, path });
  const superseded = await store.supersedeAfter(runId, step + 1);
  await deleteCheckpoints(checkpointFolder, (steps) => steps.filter((saved) => saved > step));
  metrics({
    kind: 'notice',
    step,
    level: 'info',
    code: 'resumed',
    message: `Going on from the checkpoint of step ${step}. ${superseded} later rollouts are set aside and not counted.`,
  });
  // Written by saveCheckpoint.
  const kept: Partial<Position> = JSON.parse(JSON.stringify(checkpoint.state));
  const { firstValidation = null, ended = false, best = null, saved = null } = kept;
  const { spent = { seconds: 0, tokens: 0 } } = kept;
  return { step, policyVersion, firstValidation, ended, best, spent, saved };
}

/** @param which picks from the steps of the folders, in rising order, those to delete */
async function deleteCheckpoints(folder: string, which: (steps: number[]) => number[]): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const found = new Map(names.map((name) => [Number(stepFolder.exec(name)?.[1] ?? Number.NaN), name]));
  const steps = [...found.keys()].filter((step) => !Number.isNaN(step)).sort((a, b) => a - b);
  for (const step of which(steps)) await rm(join(folder, found.get(step)!), { recursive: true, force: true });
}
